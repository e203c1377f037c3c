//! Runs and their jobs, locked in the order that everybody keeps: jobs, then runs, each by ascending id.

use std::collections::HashMap;

use carillon_scheduler::{Cause, Millis, RetryDelay, RunState};
use sea_orm::QueryResult;

use super::dialect::{self, Text};
use super::{Error, Result, Store, Transaction};

pub(super) const LOCK_JOBS: Text = Text {
    sqlite: "SELECT id, retries, enabled, retry_delay, shard FROM job WHERE id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY id",
    postgres: "SELECT id, retries, enabled, retry_delay, shard FROM job WHERE id IN (SELECT unnest(?::bigint[])) ORDER BY id FOR UPDATE",
    mysql: "SELECT job.id, job.retries, job.enabled, job.retry_delay, job.shard FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u \
            STRAIGHT_JOIN job FORCE INDEX (PRIMARY) ON job.id = u.id ORDER BY job.id FOR UPDATE",
};

pub(super) const LOCK_RUNS: Text = Text {
    sqlite: "SELECT id, job_id, shard, cause, fire_no, part, attempt, state, kill_asked_at, finished_at, chained, parent \
             FROM run WHERE id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY id",
    postgres: "SELECT id, job_id, shard, cause, fire_no, part, attempt, state, kill_asked_at, finished_at, chained, parent \
               FROM run WHERE id IN (SELECT unnest(?::bigint[])) ORDER BY id FOR UPDATE",
    mysql: "SELECT run.id, run.job_id, run.shard, run.cause, run.fire_no, run.part, run.attempt, run.state, run.kill_asked_at, run.finished_at, run.chained, run.parent \
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u \
            STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id ORDER BY run.id FOR UPDATE",
};

/// What a job says of runs that wait, and of further attempts.
pub(super) struct Owner {
    pub retries: i32,
    pub enabled: bool,
    pub retry_delay: RetryDelay,
    pub shard: i32,
}

impl Owner {
    /// What does not come from the schedule needs no enabled one.
    pub fn lets_wait(&self, cause: Cause) -> bool {
        self.enabled || cause != Cause::Schedule
    }
}

pub(super) struct Row {
    pub job_id: i64,
    pub shard: i32,
    pub cause: Cause,
    pub fire_no: i64,
    pub part: i32,
    pub attempt: i32,
    pub state: RunState,
    pub kill_asked: bool,
    /// Its job's next fire is counted from its end.
    pub chained: bool,
    /// Its job has, or had, children.
    pub parent: bool,
    finished_at: Option<Millis>,
}

impl Row {
    /// By the statement for the normal case, a moment ago.
    pub fn has_just_succeeded(&self, now: Millis) -> bool {
        self.state == RunState::Succeeded && self.finished_at == Some(now)
    }
}

impl Store {
    /// The jobs of runs that may have to wait again, and others. Locked before their runs, as an edit does it: nothing must
    /// slip past one that disables or deletes them at the same time.
    pub(super) async fn lock_jobs_of(
        &self,
        tx: &Transaction,
        run_ids: &[i64],
        others: &[i64],
    ) -> Result<HashMap<i64, Owner>> {
        let mut jobs = others.to_vec();
        if !run_ids.is_empty() {
            let (ids, value) = dialect::id_list(self.backend, run_ids);
            let text = format!("SELECT DISTINCT job_id FROM run WHERE id IN ({ids})");
            for row in self.all(tx, &text, vec![value]).await? {
                jobs.push(row.try_get_by_index(0)?);
            }
        }
        if jobs.is_empty() {
            return Ok(HashMap::new());
        }
        jobs.sort_unstable();
        jobs.dedup();
        let (_, value) = dialect::id_list(self.backend, &jobs);
        self.all(tx, LOCK_JOBS.of(self.backend), vec![value])
            .await?
            .iter()
            .map(|row| Ok((row.try_get_by_index(0)?, owner(row)?)))
            .collect()
    }

    /// Those that exist, by id; `run_ids` must ascend.
    pub(super) async fn lock_runs(
        &self,
        tx: &Transaction,
        run_ids: &[i64],
    ) -> Result<HashMap<i64, Row>> {
        let (_, value) = dialect::id_list(self.backend, run_ids);
        self.all(tx, LOCK_RUNS.of(self.backend), vec![value])
            .await?
            .iter()
            .map(read)
            .collect()
    }
}

fn owner(row: &QueryResult) -> Result<Owner> {
    let delay: String = row.try_get_by_index(3)?;
    Ok(Owner {
        retries: row.try_get_by_index(1)?,
        enabled: row.try_get_by_index(2)?,
        // A text that was spoilt behind our back must not keep a result from being stored.
        retry_delay: delay.parse().unwrap_or_default(),
        shard: row.try_get_by_index(4)?,
    })
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
            finished_at: row.try_get_by_index(9)?,
            chained: row.try_get_by_index(10)?,
            parent: row.try_get_by_index(11)?,
        },
    ))
}
