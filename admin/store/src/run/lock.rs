//! Runs and their jobs, locked in the order that all transactions keep: jobs, then runs, each by ascending id.

use std::collections::BTreeSet;

use carillon_scheduler::{Cause, RetryDelay, RunState};
use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use sea_orm::{ConnectionTrait, QueryResult};

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Lock;
use crate::db::sql::rows::{Code, IsSet, WordOrDefault};
use crate::error::Result;
use crate::run::follow::{HELD, MAP, SLOTS};
use crate::run::mark::is_http_request;
use crate::views::RunStore;

pub(crate) static LOCK_JOBS: Bulk = Bulk::lock(Lock {
    columns: "job.id, job.retries, job.enabled, job.retry_delay, job.shard, job.pause_after_failures",
    table: "job",
    id: "job.id",
    only_if: "",
});

pub(crate) static LOCK_RUNS: Bulk = Bulk::lock(Lock {
    columns: "run.id, run.job_id, run.shard, run.cause, run.fire_no, run.part, run.attempt, run.state, run.kill_asked_at AS kill_asked, \
              run.sends, run.follow, run.app_id, run.boot_id, run.journal_id, run.address, \
              (SELECT job.app_id FROM job WHERE job.id = run.job_id) AS job_app_id",
    table: "run",
    id: "run.id",
    only_if: "",
});

row_struct! {
    /// What a job says of runs that wait, and of further attempts.
    pub(crate) struct LockedJob {
        pub id: i64,
        pub retries: i32,
        pub enabled: bool,
        pub retry_delay: RetryDelay as WordOrDefault,
        pub shard: i32,
        /// 0: never.
        pub pause_after_failures: i32,
    }
}

/// Runs as they were found.
pub(crate) struct LockedRuns {
    pub by_id: HashMap<i64, LockedRun>,
    /// Another session holds their rows.
    pub held_up: HashSet<i64>,
    pub unreadable: HashSet<i64>,
}

impl LockedJob {
    /// What does not come from the schedule needs no enabled one.
    pub fn allows_pending(&self, cause: Cause) -> bool {
        self.enabled || cause != Cause::Schedule
    }
}

row_struct! {
    pub(crate) struct LockedRun {
        pub id: i64,
        pub job_id: i64,
        pub shard: i32,
        pub cause: Cause as Code,
        pub fire_no: i64,
        pub part: i32,
        pub attempt: i32,
        pub state: RunState as Code,
        pub kill_asked: bool as IsSet,
        /// What follows from its end: bits of [`follow`](crate::run::follow).
        pub follow: i16,
        /// Requests that may have left.
        pub sends: i32,
        pub app_id: i64,
        /// The executor that it was sent to last.
        pub boot_id: Option<String>,
        pub journal_id: Option<String>,
        pub address: Option<String>,
        /// The app that its job has now. None: the job is deleted.
        pub job_app_id: Option<i64>,
    }
}

impl LockedRun {
    /// Its job has moved to another app since: nothing that its end brings about concerns the job any more.
    pub fn is_of_former_app(&self) -> bool {
        self.job_app_id.is_some_and(|app_id| app_id != self.app_id)
    }

    /// It is a workflow that has begun, or its items are delivered: no executor has it.
    pub fn is_held(&self) -> bool {
        self.follow & HELD != 0
    }

    /// It was sent to the service of an HTTP job.
    pub fn is_http(&self) -> bool {
        is_http_request(self.boot_id.as_deref())
    }

    /// It may have slots of limits.
    pub fn has_slots(&self) -> bool {
        self.follow & SLOTS != 0
    }

    /// It has handed in items.
    pub fn is_map(&self) -> bool {
        self.follow & MAP != 0
    }
}

/// What to do about a row that another session holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    Wait,
    /// Leave it out: one forgotten session would hold up the results of all jobs.
    SkipLocked,
}

/// Jobs as they were found.
#[derive(Default)]
pub(crate) struct LockedJobs {
    pub owners: HashMap<i64, LockedJob>,
    /// Another session holds their rows.
    pub held_up: HashSet<i64>,
}

impl RunStore<'_> {
    /// The jobs of these runs.
    pub(crate) async fn jobs_of(self, db: &impl ConnectionTrait, run_ids: &[i64]) -> Result<HashMap<i64, i64>> {
        if run_ids.is_empty() {
            return Ok(HashMap::new());
        }
        let text = "SELECT id, job_id FROM run WHERE id IN ({ids})";
        Ok(self.tuples(db, text, values![self.ids(run_ids)]).await?.into_iter().collect())
    }

    /// Locks jobs before their runs, as an edit does it: nothing must slip past one that disables or deletes them at the
    /// same time.
    pub(crate) async fn lock_jobs(
        self,
        tx: &Transaction,
        job_ids: impl IntoIterator<Item = i64>,
        mode: LockMode,
    ) -> Result<LockedJobs> {
        let ids: BTreeSet<i64> = job_ids.into_iter().collect();
        let ids: Vec<i64> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(LockedJobs::default());
        }
        let rows = self.lock(tx, &LOCK_JOBS, &ids, mode).await?;
        let owners = self
            .readable("job", &rows)
            .into_iter()
            .map(|owner: LockedJob| (owner.id, owner))
            .collect::<HashMap<_, _>>();
        let got = ids_in(&rows);
        let mut held_up = self.held_up(tx, "job", &ids, &got, mode).await?;
        // A job that cannot be read must not be taken for a deleted one.
        held_up.extend(got.into_iter().filter(|id| !owners.contains_key(id)));
        Ok(LockedJobs { owners, held_up })
    }

    /// Locks runs in the order of their ids.
    pub(crate) async fn lock_runs(self, tx: &Transaction, run_ids: &[i64], mode: LockMode) -> Result<LockedRuns> {
        let mut ids = run_ids.to_vec();
        ids.sort_unstable();
        let rows = self.lock(tx, &LOCK_RUNS, &ids, mode).await?;
        let by_id =
            self.readable("run", &rows).into_iter().map(|row: LockedRun| (row.id, row)).collect::<HashMap<_, _>>();
        let got = ids_in(&rows);
        let held_up = self.held_up(tx, "run", &ids, &got, mode).await?;
        let unreadable = got.into_iter().filter(|id| !by_id.contains_key(id)).collect();
        Ok(LockedRuns { by_id, held_up, unreadable })
    }

    async fn lock(self, tx: &Transaction, rows: &Bulk, ids: &[i64], mode: LockMode) -> Result<Vec<QueryResult>> {
        let mut statement = rows.statement(self.backend, &[], ids);
        if mode == LockMode::SkipLocked && !self.is_exclusive() {
            statement.sql.push_str(" SKIP LOCKED");
        }
        Ok(tx.query_all_raw(statement).await?)
    }

    /// The rows that were not locked although they exist.
    async fn held_up(
        self,
        tx: &Transaction,
        table: &str,
        wanted: &[i64],
        got: &HashSet<i64>,
        mode: LockMode,
    ) -> Result<HashSet<i64>> {
        let rest = wanted.iter().filter(|id| !got.contains(id)).copied();
        let rest: Vec<i64> = rest.collect();
        if rest.is_empty() || self.is_exclusive() || mode == LockMode::Wait {
            return Ok(HashSet::new());
        }
        let text = format!("SELECT id FROM {table} WHERE id IN ({{ids}})");
        Ok(self.tuples(tx, &text, values![self.ids(&rest)]).await?.into_iter().collect())
    }
}

fn ids_in(rows: &[QueryResult]) -> HashSet<i64> {
    let ids = rows.iter().map(|row| row.try_get_by_index(0));
    ids.filter_map(std::result::Result::ok).collect()
}
