//! The third committed write: what became of a run, with all that follows from it, in one transaction.

mod follow;
mod text;

use std::collections::HashMap;

use carillon_scheduler::{Cause, Millis, RetryPolicy, RunEvent, RunState};
use sea_orm::{DatabaseTransaction, QueryResult};

use super::{Error, Result, Store, dialect, ids};

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
    pub retry: RetryPolicy,
    /// In 0..1, new for each call: spreads the retries of runs that failed together.
    pub jitter: f64,
}

/// What settling did, for the metrics and for waking the shards that have new work.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settled {
    pub changed: Vec<(i64, RunState)>,
    /// Runs whose failure is final.
    pub alarms: Vec<i64>,
    /// Shards with a new attempt.
    pub retried: Vec<i32>,
}

/// What a settle gathers on its way. The ids are taken before its transaction: on SQLite there is no second writer.
struct Then {
    settled: Settled,
    runs: Vec<i64>,
    rows: Vec<i64>,
}

struct Row {
    job_id: i64,
    shard: i32,
    cause: Cause,
    fire_no: i64,
    part: i32,
    attempt: i32,
    state: RunState,
    kill_asked: bool,
}

impl Store {
    /// Commits findings, each run's state by the one transition function. A finding about a run that we do not have, or
    /// that has ended, changes nothing.
    pub async fn settle(&self, findings: &[Finding], follow_up: &FollowUp) -> Result<Settled> {
        let mut latest: HashMap<i64, &Finding> = HashMap::with_capacity(findings.len());
        for finding in findings {
            // First writer wins, also within one list.
            latest.entry(finding.run_id).or_insert(finding);
        }
        let mut list: Vec<&Finding> = latest.into_values().collect();
        list.sort_unstable_by_key(|finding| finding.run_id);
        if let Some(settled) = self.settle_successes(&list, follow_up.now).await? {
            return Ok(settled);
        }
        let mut tries = 0;
        loop {
            match self.settle_each(&list, follow_up).await {
                Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                other => return other,
            }
        }
    }

    /// The normal case in one statement: all succeeded, and all were on their way.
    async fn settle_successes(&self, list: &[&Finding], now: Millis) -> Result<Option<Settled>> {
        let succeeded =
            |f: &&Finding| f.event == RunEvent::Reported(carillon_scheduler::Outcome::Succeeded);
        if list.is_empty() || !list.iter().all(succeeded) {
            return Ok(None);
        }
        let rows: Vec<_> = list
            .iter()
            .map(|f| text::SettleRow::of(f, RunState::Succeeded))
            .collect();
        let values = text::settle_values(self.backend, &rows, now);
        let done = self
            .execute(&self.write, text::SETTLE_SUCCESSES.of(self.backend), values)
            .await?
            .rows_affected();
        if done != list.len() as u64 {
            // Some had ended, or were thought lost: those that went through are final now and will not change again.
            return Ok(None);
        }
        Ok(Some(Settled {
            changed: list
                .iter()
                .map(|f| (f.run_id, RunState::Succeeded))
                .collect(),
            retried: vec![],
            alarms: vec![],
        }))
    }

    async fn settle_each(&self, list: &[&Finding], follow_up: &FollowUp) -> Result<Settled> {
        let failures = list.iter().filter(|finding| may_fail(finding)).count();
        let mut then = Then {
            settled: Settled::default(),
            runs: self.take_ids(&ids::RUN, failures).await?,
            rows: self.take_ids(&ids::ROW, failures).await?,
        };
        let tx = self.begin().await?;
        let rows = self.lock_runs(&tx, list).await?;
        let mut changes = Vec::new();
        for finding in list {
            let Some(row) = rows.get(&finding.run_id) else {
                continue;
            };
            let Some(state) = next_state(row, finding) else {
                continue;
            };
            changes.push(text::SettleRow::of(finding, state));
            then.settled.changed.push((finding.run_id, state));
            self.follow(&tx, row, finding, state, follow_up, &mut then)
                .await?;
        }
        if !changes.is_empty() {
            let values = text::settle_values(self.backend, &changes, follow_up.now);
            self.execute(&tx, text::SETTLE.of(self.backend), values)
                .await?;
        }
        tx.commit().await?;
        Ok(then.settled)
    }

    async fn lock_runs(
        &self,
        tx: &DatabaseTransaction,
        list: &[&Finding],
    ) -> Result<HashMap<i64, Row>> {
        let ids: Vec<i64> = list.iter().map(|finding| finding.run_id).collect();
        let (ids, value) = dialect::id_list(self.backend, &ids);
        let text = format!(
            "SELECT id, job_id, shard, cause, fire_no, part, attempt, state, kill_asked_at FROM run \
             WHERE id IN ({ids}) ORDER BY id{}",
            self.for_update()
        );
        self.all(tx, &text, vec![value])
            .await?
            .iter()
            .map(read)
            .collect()
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

fn read(row: &QueryResult) -> Result<(i64, Row)> {
    let (cause, state): (i16, i16) = (row.try_get_by_index(3)?, row.try_get_by_index(7)?);
    let corrupt = || Error::Corrupt(format!("cause {cause} or state {state} of a run"));
    Ok((
        row.try_get_by_index(0)?,
        Row {
            job_id: row.try_get_by_index(1)?,
            shard: row.try_get_by_index(2)?,
            cause: Cause::from_code(cause).ok_or_else(corrupt)?,
            fire_no: row.try_get_by_index(4)?,
            part: row.try_get_by_index(5)?,
            attempt: row.try_get_by_index(6)?,
            state: RunState::from_code(state).ok_or_else(corrupt)?,
            kill_asked: row.try_get_by_index::<Option<i64>>(8)?.is_some(),
        },
    ))
}
