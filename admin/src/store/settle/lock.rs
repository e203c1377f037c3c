//! The rows that a settle works on, locked in the order that everybody keeps: jobs, then runs, each by ascending id.

use std::collections::HashMap;

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::{DatabaseTransaction, QueryResult};

use super::{Finding, may_fail};
use crate::store::dialect::{self, Text};
use crate::store::{Error, Result, Store};

pub const LOCK_JOBS: Text = Text {
    sqlite: "SELECT id, retries, enabled FROM job WHERE id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY id",
    postgres: "SELECT id, retries, enabled FROM job WHERE id IN (SELECT unnest(?::bigint[])) ORDER BY id FOR UPDATE",
    mysql: "SELECT job.id, job.retries, job.enabled FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u \
            STRAIGHT_JOIN job FORCE INDEX (PRIMARY) ON job.id = u.id ORDER BY job.id FOR UPDATE",
};

pub const LOCK_RUNS: Text = Text {
    sqlite: "SELECT id, job_id, shard, cause, fire_no, part, attempt, state, kill_asked_at, finished_at \
             FROM run WHERE id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY id",
    postgres: "SELECT id, job_id, shard, cause, fire_no, part, attempt, state, kill_asked_at, finished_at \
               FROM run WHERE id IN (SELECT unnest(?::bigint[])) ORDER BY id FOR UPDATE",
    mysql: "SELECT run.id, run.job_id, run.shard, run.cause, run.fire_no, run.part, run.attempt, run.state, run.kill_asked_at, run.finished_at \
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u \
            STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id ORDER BY run.id FOR UPDATE",
};

/// What a job says on further attempts.
pub struct Retries {
    pub allowed: i32,
    pub enabled: bool,
}

pub struct Row {
    pub job_id: i64,
    pub shard: i32,
    pub cause: Cause,
    pub fire_no: i64,
    pub part: i32,
    pub attempt: i32,
    pub state: RunState,
    pub kill_asked: bool,
    finished_at: Option<Millis>,
}

impl Row {
    /// By the statement for the normal case, a moment ago.
    pub fn has_just_succeeded(&self, now: Millis) -> bool {
        self.state == RunState::Succeeded && self.finished_at == Some(now)
    }
}

impl Store {
    /// The jobs of the runs that may fail, locked before their runs as an edit does it: a new attempt must not slip past
    /// one that disables or deletes its job.
    pub(super) async fn lock_jobs(
        &self,
        tx: &DatabaseTransaction,
        list: &[&Finding],
    ) -> Result<HashMap<i64, Retries>> {
        let failing = list.iter().filter(|finding| may_fail(finding));
        let ids: Vec<i64> = failing.map(|finding| finding.run_id).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let (ids, value) = dialect::id_list(self.backend, &ids);
        let text = format!("SELECT DISTINCT job_id FROM run WHERE id IN ({ids})");
        let rows = self.all(tx, &text, vec![value]).await?;
        let mut jobs: Vec<i64> = rows
            .iter()
            .map(|row| row.try_get_by_index(0))
            .collect::<std::result::Result<_, _>>()?;
        jobs.sort_unstable();
        let (_, value) = dialect::id_list(self.backend, &jobs);
        self.all(tx, LOCK_JOBS.of(self.backend), vec![value])
            .await?
            .iter()
            .map(|row| {
                let retries = Retries {
                    allowed: row.try_get_by_index(1)?,
                    enabled: row.try_get_by_index(2)?,
                };
                Ok((row.try_get_by_index(0)?, retries))
            })
            .collect()
    }

    pub(super) async fn lock_runs(
        &self,
        tx: &DatabaseTransaction,
        list: &[&Finding],
    ) -> Result<HashMap<i64, Row>> {
        let ids: Vec<i64> = list.iter().map(|finding| finding.run_id).collect();
        let (_, value) = dialect::id_list(self.backend, &ids);
        self.all(tx, LOCK_RUNS.of(self.backend), vec![value])
            .await?
            .iter()
            .map(read)
            .collect()
    }
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
        },
    ))
}
