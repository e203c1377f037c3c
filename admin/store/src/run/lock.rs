//! Runs and their jobs, locked in the order that everybody keeps: jobs, then runs, each by ascending id.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use carillon_scheduler::{Cause, RetryDelay, RunState};
use sea_orm::{ConnectionTrait, QueryResult};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::{Error, Result, Store, Transaction};

pub(crate) const LOCK_JOBS: Text = Text {
    sqlite: "SELECT id, retries, enabled, retry_delay, shard FROM job WHERE id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY id",
    postgres: "SELECT id, retries, enabled, retry_delay, shard FROM job WHERE id IN (SELECT unnest(?::bigint[])) ORDER BY id FOR UPDATE",
    mysql: "SELECT job.id, job.retries, job.enabled, job.retry_delay, job.shard FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u \
            STRAIGHT_JOIN job FORCE INDEX (PRIMARY) ON job.id = u.id ORDER BY job.id FOR UPDATE",
};

pub(crate) const LOCK_RUNS: Text = Text {
    sqlite: "SELECT id, job_id, shard, cause, fire_no, part, attempt, state, kill_asked_at, sends, chained, parent \
             FROM run WHERE id IN (SELECT u.value FROM json_each(?) AS u) ORDER BY id",
    postgres: "SELECT id, job_id, shard, cause, fire_no, part, attempt, state, kill_asked_at, sends, chained, parent \
               FROM run WHERE id IN (SELECT unnest(?::bigint[])) ORDER BY id FOR UPDATE",
    mysql: "SELECT run.id, run.job_id, run.shard, run.cause, run.fire_no, run.part, run.attempt, run.state, run.kill_asked_at, run.sends, run.chained, run.parent \
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u \
            STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id ORDER BY run.id FOR UPDATE",
};

/// What a job says of runs that wait, and of further attempts.
pub(crate) struct Owner {
    pub retries: i32,
    pub enabled: bool,
    pub retry_delay: RetryDelay,
    pub shard: i32,
}

/// Runs as they were found.
pub(crate) struct LockedRuns {
    pub by_id: HashMap<i64, Row>,
    /// Another session holds their rows.
    pub held_up: HashSet<i64>,
    pub unreadable: HashSet<i64>,
}

impl Owner {
    /// What does not come from the schedule needs no enabled one.
    pub fn lets_wait(&self, cause: Cause) -> bool {
        self.enabled || cause != Cause::Schedule
    }
}

pub(crate) struct Row {
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
    /// Requests that may have left.
    pub sends: i32,
}

/// What to do about a row that another session holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Wait,
    /// Leave it out: one forgotten session would hold up the results of all jobs.
    Pass,
}

/// Jobs as they were found.
#[derive(Default)]
pub(crate) struct LockedJobs {
    pub owners: HashMap<i64, Owner>,
    /// Another session holds their rows.
    pub held_up: HashSet<i64>,
}

impl Store {
    /// The jobs of these runs.
    pub(crate) async fn jobs_of(&self, db: &impl ConnectionTrait, run_ids: &[i64]) -> Result<HashMap<i64, i64>> {
        if run_ids.is_empty() {
            return Ok(HashMap::new());
        }
        let (ids, value) = dialect::id_list(self.backend, run_ids);
        let text = format!("SELECT id, job_id FROM run WHERE id IN ({ids})");
        let rows = self.all(db, &text, vec![value]).await?;
        let pair = |row: &QueryResult| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?));
        rows.iter().map(pair).collect()
    }

    /// Locks jobs before their runs, as an edit does it: nothing must slip past one that disables or deletes them at the
    /// same time.
    pub(crate) async fn lock_jobs(
        &self,
        tx: &Transaction,
        job_ids: impl IntoIterator<Item = i64>,
        held: Held,
    ) -> Result<LockedJobs> {
        let ids: BTreeSet<i64> = job_ids.into_iter().collect();
        let ids: Vec<i64> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(LockedJobs::default());
        }
        let (_, value) = dialect::id_list(self.backend, &ids);
        let rows = self.all(tx, &self.lock_text(LOCK_JOBS, held), vec![value]).await?;
        let read = |row: &QueryResult| Ok((row.try_get_by_index(0)?, owner(row)?));
        let owners: HashMap<i64, Owner> = self.readable("job", &rows, read).into_iter().collect();
        let got: HashSet<i64> = ids_in(&rows);
        let mut held_up = self.held_up(tx, "job", &ids, &got, held).await?;
        // A job that cannot be read must not be taken for a deleted one.
        held_up.extend(got.into_iter().filter(|id| !owners.contains_key(id)));
        Ok(LockedJobs { owners, held_up })
    }

    /// Locks runs in the order of their ids.
    pub(crate) async fn lock_runs(&self, tx: &Transaction, run_ids: &[i64], held: Held) -> Result<LockedRuns> {
        let mut ids = run_ids.to_vec();
        ids.sort_unstable();
        let (_, value) = dialect::id_list(self.backend, &ids);
        let rows = self.all(tx, &self.lock_text(LOCK_RUNS, held), vec![value]).await?;
        let by_id: HashMap<i64, Row> = self.readable("run", &rows, read).into_iter().collect();
        let got: HashSet<i64> = ids_in(&rows);
        let held_up = self.held_up(tx, "run", &ids, &got, held).await?;
        let unreadable = got.into_iter().filter(|id| !by_id.contains_key(id)).collect();
        Ok(LockedRuns { by_id, held_up, unreadable })
    }

    fn lock_text(&self, text: Text, held: Held) -> Cow<'static, str> {
        let text = text.of(self.backend);
        match held {
            Held::Pass if !self.is_exclusive() => Cow::Owned(format!("{text} SKIP LOCKED")),
            _ => Cow::Borrowed(text),
        }
    }

    /// Those that were not locked although they exist.
    async fn held_up(
        &self,
        tx: &Transaction,
        table: &str,
        wanted: &[i64],
        got: &HashSet<i64>,
        held: Held,
    ) -> Result<HashSet<i64>> {
        let rest = wanted.iter().filter(|id| !got.contains(id)).copied();
        let rest: Vec<i64> = rest.collect();
        if rest.is_empty() || self.is_exclusive() || held == Held::Wait {
            return Ok(HashSet::new());
        }
        let (list, value) = dialect::id_list(self.backend, &rest);
        let text = format!("SELECT id FROM {table} WHERE id IN ({list})");
        let found = self.ids_of(tx, &text, vec![value]).await?;
        Ok(found.into_iter().collect())
    }
}

fn ids_in(rows: &[QueryResult]) -> HashSet<i64> {
    let ids = rows.iter().map(|row| row.try_get_by_index(0));
    ids.filter_map(std::result::Result::ok).collect()
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
            sends: row.try_get_by_index(9)?,
            chained: row.try_get_by_index(10)?,
            parent: row.try_get_by_index(11)?,
        },
    ))
}
