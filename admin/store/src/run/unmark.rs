//! The way back from `sending` to `claimed`, the only one: for requests that were certainly not written.

use std::collections::HashSet;

use carillon_scheduler::Millis;
use sea_orm::{DbBackend, Value};

use crate::db::dialect::Text;
use crate::run::cancel;
use crate::run::lock::Held;
use crate::{Result, Store, Transaction};

/// A run that was marked and not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsent {
    pub run_id: i64,
    /// Of its mark.
    pub token: i64,
    /// It may go to no other executor: it keeps its address.
    pub bound: bool,
}

pub(crate) const UNMARK: Text = Text {
    sqlite: "UPDATE run SET state = 0, sends = sends - 1, mark_token = NULL, marked_at = NULL, boot_id = NULL, \
             revision = NULL, journal_id = NULL, address = CASE u.value->>2 WHEN 1 THEN address END FROM json_each(?) AS u \
             WHERE run.id = u.value->>0 AND +run.state = 1 AND run.mark_token = u.value->>1",
    postgres: "UPDATE run SET state = 0, sends = sends - 1, mark_token = NULL, marked_at = NULL, boot_id = NULL, \
               revision = NULL, journal_id = NULL, address = CASE u.keep WHEN 1 THEN address END \
               FROM unnest(?::bigint[], ?::bigint[], ?::int[]) AS u(id, token, keep) \
               WHERE run.id = u.id AND run.state + 0 = 1 AND run.mark_token = u.token",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', token BIGINT PATH '$[1]', keep INT PATH '$[2]')) AS u \
            STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id SET run.state = 0, run.sends = run.sends - 1, run.mark_token = NULL, run.marked_at = NULL, \
            run.boot_id = NULL, run.revision = NULL, run.journal_id = NULL, run.address = CASE u.keep WHEN 1 THEN run.address END WHERE run.state = 1 AND run.mark_token = u.token",
};

/// What came of giving back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unmarked {
    /// How many were.
    pub done: u64,
    /// Runs whose job, or whose own row, another session holds: nothing has changed yet.
    pub held_up: HashSet<i64>,
}

impl Store {
    /// `sending` → `claimed`, where the mark is still the one that is given back.
    ///
    /// Whoever disabled or deleted a job in the meantime found these runs marked, and has left them: they are cancelled
    /// here, as it would have done.
    pub async fn unmark(&self, unsent: &[Unsent], now: Millis) -> Result<Unmarked> {
        let mut unsent = unsent.to_vec();
        unsent.sort_unstable_by_key(|run| run.run_id);
        let mut tries = 0;
        loop {
            match self.try_unmark(&unsent, now).await {
                Err(error) if error.is_lock_conflict() && tries < 3 => tries += 1,
                other => return other,
            }
        }
    }

    async fn try_unmark(&self, unsent: &[Unsent], now: Millis) -> Result<Unmarked> {
        let mut unsent = unsent.to_vec();
        let mut ids: Vec<i64> = unsent.iter().map(|run| run.run_id).collect();
        let tx = self.begin().await?;
        let jobs_of = self.jobs_of(&tx, &ids).await?;
        let jobs = self.lock_jobs(&tx, jobs_of.values().copied(), Held::Pass).await?;
        let (jobs, held_jobs) = (jobs.owners, jobs.held_up);
        let is_held = |id: &i64| jobs_of.get(id).is_some_and(|job| held_jobs.contains(job));
        let mut held_up: HashSet<i64> = ids.extract_if(.., |id| is_held(id)).collect();
        let runs = self.lock_runs(&tx, &ids, Held::Pass).await?;
        held_up.extend(runs.held_up);
        ids.retain(|id| !held_up.contains(id));
        unsent.retain(|run| !held_up.contains(&run.run_id));
        let runs = runs.by_id;
        let done = self.execute(&tx, UNMARK.of(self.backend), values(self.backend, &unsent)).await?.rows_affected();
        let (mut disabled, mut deleted) = (vec![], vec![]);
        for id in ids {
            match runs.get(&id).map(|run| (jobs.get(&run.job_id), run.cause)) {
                Some((None, _)) => deleted.push(id),
                Some((Some(job), cause)) if !job.lets_wait(cause) => disabled.push(id),
                _ => {}
            }
        }
        self.cancel_in(&tx, &disabled, "disabled", now).await?;
        self.cancel_in(&tx, &deleted, "deleted", now).await?;
        tx.commit().await?;
        Ok(Unmarked { done, held_up })
    }

    async fn cancel_in(&self, tx: &Transaction, run_ids: &[i64], reason: &str, now: Millis) -> Result<()> {
        if !run_ids.is_empty() {
            let values = cancel::cancel_values(self.backend, run_ids, reason, now);
            self.execute(tx, cancel::CANCEL.of(self.backend), values).await?;
        }
        Ok(())
    }
}

fn values(backend: DbBackend, unsent: &[Unsent]) -> Vec<Value> {
    let keep = |run: &Unsent| i32::from(run.bound);
    if backend == DbBackend::Postgres {
        return vec![
            unsent.iter().map(|run| run.run_id).collect::<Vec<_>>().into(),
            unsent.iter().map(|run| run.token).collect::<Vec<_>>().into(),
            unsent.iter().map(keep).collect::<Vec<_>>().into(),
        ];
    }
    let rows: Vec<_> = unsent.iter().map(|run| (run.run_id, run.token, keep(run))).collect();
    vec![serde_json::to_string(&rows).unwrap_or_default().into()]
}
