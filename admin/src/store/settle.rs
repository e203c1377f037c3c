//! The third committed write: what became of a run, with all that follows from it, in one transaction.

mod chain;
mod children;
pub(super) mod follow;
pub(super) mod text;

use std::collections::{BTreeSet, HashMap};

use carillon_scheduler::{Millis, RunEvent, RunState};

use super::alarm::Alarm;
use super::run_lock::{Owner, Row};
use super::{Error, Result, Store, ids};
use crate::failpoint;

/// Something that was learned about a run.
#[derive(Clone, Debug)]
pub struct Finding {
    pub run_id: i64,
    pub event: RunEvent,
    /// The wire's code: 200, 500, 502 …; None where no executor has said anything.
    pub code: Option<i32>,
    pub message: Option<String>,
    /// Why, in one word of `engine`: `result`, `timeout`, `refused`, `no_executor` …
    pub reason: Option<&'static str>,
    /// When the request left, if this process knows.
    pub sent_at: Option<Millis>,
}

/// How failures are followed up.
#[derive(Clone, Copy, Debug)]
pub struct FollowUp {
    pub now: Millis,
    /// In 0..1, new for each call: spreads the retries of runs that failed together.
    pub jitter: f64,
}

/// What settling did, for the metrics and for waking the shards that have new work.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settled {
    pub changed: Vec<(i64, RunState)>,
    /// Of runs whose failure is final.
    pub alarms: Vec<Alarm>,
    /// Shards with a new attempt, or a new cursor.
    pub to_scan: Vec<i32>,
}

/// What a settle gathers on its way. The ids are taken before its transaction: on SQLite there is no second writer.
struct Then {
    settled: Settled,
    runs: Vec<i64>,
    rows: Vec<i64>,
    jobs: HashMap<i64, Owner>,
    /// Job and number of fires from whose ends a fixed delay counts.
    ended: Vec<(i64, i64)>,
    /// Fires of parents of which a part has succeeded just now.
    done: BTreeSet<children::Fire>,
}

impl Store {
    /// Commits findings, each run's state by the one transition function. A finding about a run that we do not have, or
    /// that has ended, changes nothing.
    pub async fn settle(&self, findings: &[Finding], follow_up: &FollowUp) -> Result<Settled> {
        let list = one_each(findings);
        let mut tries = 0;
        loop {
            match self.settle_once(&list, follow_up).await {
                // Busy: a job has got children at this very moment.
                Err(error)
                    if (error.is_lock_conflict() || matches!(error, Error::Busy)) && tries < 3 =>
                {
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    async fn settle_once(&self, list: &[&Finding], follow_up: &FollowUp) -> Result<Settled> {
        let done = self.settle_successes(list, follow_up.now).await?;
        if done < list.len() {
            // Some had ended, or were thought lost, or it is not the normal case at all.
            return self.settle_each(list, follow_up, done > 0).await;
        }
        let succeeded = |finding: &&Finding| (finding.run_id, RunState::Succeeded);
        Ok(Settled {
            changed: list.iter().map(succeeded).collect(),
            ..Settled::default()
        })
    }

    /// The normal case in one statement: all succeeded, and all were on their way. Answers how many were.
    async fn settle_successes(&self, list: &[&Finding], now: Millis) -> Result<usize> {
        if list.is_empty() || list.iter().any(|finding| may_fail(finding)) {
            return Ok(0);
        }
        let row = |finding: &&Finding| text::SettleRow::of(finding, RunState::Succeeded);
        let rows: Vec<_> = list.iter().map(row).collect();
        if text::statements(&rows).count() > 1 {
            return Ok(0);
        }
        let values = text::settle_values(self.backend, &rows, now);
        let done = self
            .execute(&self.write, text::SETTLE_SUCCESSES.of(self.backend), values)
            .await?;
        failpoint::hit("after_settle_commit");
        Ok(done.rows_affected() as usize)
    }

    /// `begun`: some were settled as successes just now; they are known by their end.
    async fn settle_each(
        &self,
        list: &[&Finding],
        follow_up: &FollowUp,
        begun: bool,
    ) -> Result<Settled> {
        let failing = list.iter().filter(|finding| may_fail(finding));
        let failing: Vec<i64> = failing.map(|finding| finding.run_id).collect();
        let all: Vec<i64> = list.iter().map(|finding| finding.run_id).collect();
        let ties = self.ties_of(&all).await?;
        let runs = failing.len() + ties.births();
        let mut then = Then {
            settled: Settled::default(),
            runs: self.take_ids(&ids::RUN, runs).await?,
            rows: self.take_ids(&ids::ROW, failing.len()).await?,
            jobs: HashMap::new(),
            ended: vec![],
            done: BTreeSet::new(),
        };
        let tx = self.begin().await?;
        let waiting = [failing, ties.chained.clone()].concat();
        then.jobs = self
            .lock_jobs_of(&tx, &waiting, &ties.all_children())
            .await?;
        self.lock_fires(&tx, &ties).await?;
        let rows = self.lock_runs(&tx, &all).await?;
        if rows.iter().any(|(id, row)| row.parent && !ties.knows(*id)) {
            return Err(Error::Busy);
        }
        let mut changes = Vec::new();
        for finding in list {
            let Some(row) = rows.get(&finding.run_id) else {
                continue;
            };
            if begun && row.has_just_succeeded(follow_up.now) {
                then.settled.changed.push((finding.run_id, row.state));
                continue;
            }
            let Some(state) = next_state(row, finding) else {
                continue;
            };
            changes.push(text::SettleRow::of(finding, state));
            then.settled.changed.push((finding.run_id, state));
            self.follow(&tx, row, finding, state, follow_up, &mut then)
                .await?;
        }
        for rows in text::statements(&changes) {
            let values = text::settle_values(self.backend, rows, follow_up.now);
            self.execute(&tx, text::SETTLE.of(self.backend), values)
                .await?;
        }
        for (job_id, fire_no) in std::mem::take(&mut then.ended) {
            let shard = self.chain_on(&tx, job_id, fire_no, follow_up.now).await?;
            then.settled.to_scan.extend(shard);
        }
        for fire in std::mem::take(&mut then.done) {
            self.bear_children(&tx, fire, follow_up.now, &mut then)
                .await?;
        }
        tx.commit().await?;
        failpoint::hit("after_settle_commit");
        Ok(then.settled)
    }

    /// Requests that executors have accepted: `sending` → `running`. A result may have been faster; then only the time
    /// at which the request left is added.
    pub async fn accept(&self, accepted: &[(i64, Millis)]) -> Result<()> {
        let mut list = accepted.to_vec();
        list.sort_unstable();
        let values = text::accept_values(self.backend, &list);
        self.execute(&self.write, text::ACCEPT.of(self.backend), values)
            .await?;
        Ok(())
    }
}

/// One finding a run, by run. Of several an executor's report counts, as evidence beats what is only assumed; of several
/// reports the first.
fn one_each(findings: &[Finding]) -> Vec<&Finding> {
    let is_report = |finding: &Finding| matches!(finding.event, RunEvent::Reported(_));
    let mut by_run: HashMap<i64, &Finding> = HashMap::with_capacity(findings.len());
    for finding in findings {
        let kept = by_run.entry(finding.run_id).or_insert(finding);
        if is_report(finding) && !is_report(kept) {
            *kept = finding;
        }
    }
    let mut list: Vec<&Finding> = by_run.into_values().collect();
    list.sort_unstable_by_key(|finding| finding.run_id);
    list
}

fn may_fail(finding: &Finding) -> bool {
    finding.event != RunEvent::Reported(carillon_scheduler::Outcome::Succeeded)
}

/// A run whose end was asked for and that then reports a failure was killed.
fn next_state(row: &Row, finding: &Finding) -> Option<RunState> {
    use carillon_scheduler::Outcome;
    let event = match finding.event {
        RunEvent::Reported(Outcome::Failed) if row.kill_asked => {
            RunEvent::Reported(Outcome::Killed)
        }
        event => event,
    };
    row.state.on(event)
}
