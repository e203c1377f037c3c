//! The third committed write: what became of a run, with all that follows from it, in one transaction.

use crate::run::settle::children;
use crate::run::settle::follow_up;
use crate::run::settle::statements::{self, ACCEPT, SETTLE, SETTLE_SUCCESSES, settle_row};

use std::collections::{BTreeSet, HashMap};

use carillon_scheduler::{Millis, Outcome, RunEvent, RunState};

use crate::alarm::alarms::Alarm;
use crate::db::ids;
use crate::db::sql::retry;
use crate::failpoint;
use crate::run::lock::Held;
use crate::run::lock::{Owner, Row};
use crate::{Error, Result, Store, Transaction};

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
    /// The database went backwards and `resync` has not been called yet.
    pub restored: bool,
}

/// What settling did, for the metrics and for waking the shards that have new work.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settled {
    pub changed: Vec<(i64, RunState)>,
    /// Of runs whose failure is final.
    pub alarms: Vec<Alarm>,
    /// Shards with a new attempt, or a new cursor.
    pub to_scan: Vec<i32>,
    /// Runs of which nothing is stored yet, because another session holds their row or their job's.
    pub held_up: Vec<i64>,
    /// Runs of which nothing can be stored, because their row cannot be read.
    pub unreadable: Vec<i64>,
    /// Runs that were reported and had never been sent. Nothing has changed.
    pub unsent: Vec<i64>,
}

impl Settled {
    pub fn add(&mut self, other: Self) {
        self.changed.extend(other.changed);
        self.alarms.extend(other.alarms);
        self.to_scan.extend(other.to_scan);
        self.held_up.extend(other.held_up);
        self.unreadable.extend(other.unreadable);
        self.unsent.extend(other.unsent);
    }
}

/// What a settle gathers on its way. The ids are taken before its transaction: on SQLite there is no second writer.
#[derive(Default)]
pub(crate) struct Then {
    pub(crate) settled: Settled,
    pub(crate) runs: Vec<i64>,
    pub(crate) rows: Vec<i64>,
    pub(crate) jobs: HashMap<i64, Owner>,
    pub(crate) retries: Vec<follow_up::Retry>,
    pub(crate) alarms: Vec<(i64, Alarm)>,
    /// Runs whose outcome is known after all, and the fires of which no further attempt is needed.
    pub(crate) known: Vec<i64>,
    pub(crate) late: Vec<follow_up::Late>,
    /// Job and number of fires from whose ends a fixed delay counts.
    pub(crate) ended: BTreeSet<(i64, i64)>,
    /// Fires of parents of which a part has succeeded just now.
    pub(crate) done: BTreeSet<children::Fire>,
}

impl Store {
    /// Commits findings, each run's state by the one transition function. A finding about a run that we do not have, or
    /// that has ended, changes nothing.
    pub async fn settle(&self, findings: &[Finding], follow_up: &FollowUp) -> Result<Settled> {
        let mut list = one_each(findings);
        let done = self.settle_successes(&list, follow_up.now).await?;
        list.retain(|finding| !done.contains(&finding.run_id));
        let mut settled = self.settle_others(&list, follow_up, Held::Wait).await?;
        settled.changed.extend(successes(done));
        settled.changed.sort_unstable_by_key(|(run_id, _)| *run_id);
        Ok(settled)
    }

    /// The normal case in one statement, before and apart from all others: runs that were on their way and have succeeded,
    /// and from which nothing follows. Answers which they are.
    pub async fn settle_successes(&self, list: &[&Finding], now: Millis) -> Result<BTreeSet<i64>> {
        let succeeded = list.iter().filter(|finding| !may_fail(finding));
        let rows: Vec<_> = succeeded.map(|finding| settle_row(finding, RunState::Succeeded)).collect();
        let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let values = named![now];
        let mut done = 0;
        for rows in statements::statements(&rows) {
            done += retry::on_conflict(|| self.bulk(&self.write, &SETTLE_SUCCESSES, &values, rows)).await?;
            failpoint::hit("after_settle_commit");
        }
        if done == 0 {
            return Ok(BTreeSet::new());
        }
        if done == rows.len() as u64 {
            return Ok(ids.into_iter().collect());
        }
        // Some had ended, were thought lost, or are a link of a chain or a parent: those that are settled are known by
        // their end.
        let text = "SELECT id FROM run WHERE id IN ({ids}) AND state = {state.succeeded} AND finished_at = ?";
        Ok(self.tuples(&self.write, text, values![self.ids(&ids), now]).await?.into_iter().collect())
    }

    /// Everything else, with all that follows from it, in one transaction: as many statements for many findings as for few.
    pub async fn settle_others(&self, list: &[&Finding], follow_up: &FollowUp, held: Held) -> Result<Settled> {
        if list.is_empty() {
            return Ok(Settled::default());
        }
        // Busy: a job has got children at this very moment.
        retry::on_conflict(|| self.try_settle_others(list, follow_up, held)).await
    }

    async fn try_settle_others(&self, list: &[&Finding], follow_up: &FollowUp, held: Held) -> Result<Settled> {
        let failing = list.iter().filter(|finding| may_fail(finding));
        let mut waiting: Vec<i64> = failing.map(|finding| finding.run_id).collect();
        let all: Vec<i64> = list.iter().map(|finding| finding.run_id).collect();
        let ties = self.ties_of(&all).await?;
        let (failing, births) = (waiting.len(), ties.births());
        let runs = self.take_ids(&ids::RUN, failing + births).await?;
        let mut then = Then { runs, rows: self.take_ids(&ids::ROW, failing).await?, ..Then::default() };
        waiting.extend(&ties.chained);
        let tx = self.begin().await?;
        let jobs_of = self.jobs_of(&tx, &waiting).await?;
        let job_ids = jobs_of.values().copied().chain(ties.all_children());
        let jobs = self.lock_jobs(&tx, job_ids, held).await?;
        let held_up_by = |run_id: &i64| {
            let own = jobs_of.get(run_id);
            own.is_some_and(|job| jobs.held_up.contains(job)) || ties.waits_for(*run_id, &jobs.held_up)
        };
        let held_fires = self.lock_fires(&tx, &ties, held).await?;
        let is_held = |run_id: &i64| held_up_by(run_id) || ties.is_of(*run_id, &held_fires);
        let (held_up, free): (Vec<i64>, Vec<i64>) = all.into_iter().partition(is_held);
        then.jobs = jobs.owners;
        let runs = self.lock_runs(&tx, &free, held).await?;
        then.settled.held_up = held_up;
        then.settled.held_up.extend(runs.held_up);
        then.settled.unreadable.extend(runs.unreadable);
        if runs.by_id.iter().any(|(id, row)| row.parent && !ties.knows(*id)) {
            return Err(Error::Busy);
        }
        let restored_below = match list.iter().any(|finding| is_of_unsent(&runs.by_id, finding)) {
            true => self.restored_below(&tx, follow_up).await?,
            false => 0,
        };
        let mut changes = Vec::new();
        for finding in list {
            let Some(row) = runs.by_id.get(&finding.run_id) else {
                continue;
            };
            let is_unsent = is_of_unsent(&runs.by_id, finding);
            if is_unsent && finding.run_id >= restored_below {
                then.settled.unsent.push(finding.run_id);
            }
            let Some(state) = next_state(row, finding, is_unsent && finding.run_id < restored_below) else {
                continue;
            };
            changes.push(settle_row(finding, state));
            then.settled.changed.push((finding.run_id, state));
            then.follow(row, finding, state, follow_up);
        }
        for rows in statements::statements(&changes) {
            self.bulk(&tx, &SETTLE, &named![now: follow_up.now], rows).await?;
        }
        self.write_what_follows(&tx, &mut then, follow_up.now).await?;
        tx.commit().await?;
        failpoint::hit("after_settle_commit");
        Ok(then.settled)
    }

    /// Runs below this number may have been sent in the time that was lost when the database was restored.
    async fn restored_below(&self, tx: &Transaction, follow_up: &FollowUp) -> Result<i64> {
        if follow_up.restored {
            return Ok(i64::MAX);
        }
        let value = self.setting(tx, RESTORED_BELOW).await?;
        Ok(value.and_then(|value| value.parse().ok()).unwrap_or(0))
    }

    /// Requests that executors have accepted: `sending` → `running`. A result may have been faster; then only the time
    /// at which the request left is added.
    pub async fn accept(&self, accepted: &[(i64, Millis)]) -> Result<()> {
        let mut list = accepted.to_vec();
        list.sort_unstable();
        self.bulk(&self.write, &ACCEPT, &[], &list).await?;
        Ok(())
    }
}

/// The setting that `resync` writes.
pub(crate) const RESTORED_BELOW: &str = "restored_below";

pub fn successes(run_ids: BTreeSet<i64>) -> impl Iterator<Item = (i64, RunState)> {
    run_ids.into_iter().map(|id| (id, RunState::Succeeded))
}

/// One finding a run, by run. Of several an executor's report counts, as evidence beats what is only assumed; of several
/// reports the first.
pub fn one_each(findings: &[Finding]) -> Vec<&Finding> {
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

pub fn may_fail(finding: &Finding) -> bool {
    finding.event != RunEvent::Reported(Outcome::Succeeded)
}

/// A report about a run that was never sent.
fn is_of_unsent(runs: &HashMap<i64, Row>, finding: &Finding) -> bool {
    let row = runs.get(&finding.run_id);
    matches!(finding.event, RunEvent::Reported(_))
        && row.is_some_and(|row| row.state == RunState::Claimed && row.sends == 0)
}

/// A run whose end was asked for and that then reports a failure was killed.
fn next_state(row: &Row, finding: &Finding, is_restored: bool) -> Option<RunState> {
    let event = match finding.event {
        RunEvent::Reported(Outcome::Failed) if row.kill_asked => RunEvent::Reported(Outcome::Killed),
        RunEvent::Reported(outcome) if row.state == RunState::Claimed && (is_restored || row.sends > 0) => {
            RunEvent::ReportedAfterRestore(outcome)
        }
        event => event,
    };
    row.state.on(event)
}
