//! Jobs, leases and rows for the tests of the hot path.

use carillon_scheduler::{JobDraft, Millis, RunState, ScheduleDraft};
use carillon_store::Job;
use carillon_store::run::claim::{DueJob, HeldLease, JobClaim};
use sea_orm::{DatabaseConnection, FromQueryResult, Statement};

use crate::conformance::fixture::{Fixture, NOW, Row, actor, draft};
use crate::services::TestDatabase;

pub const TTL: i64 = 10_000;

pub fn holder(shard: i32, epoch: i64) -> HeldLease<'static> {
    HeldLease { shard, epoch, node: "a", ttl_ms: TTL }
}

impl Fixture {
    /// A job that fires each second; its first instant is `after(1)`.
    pub async fn ticking(&self, name: &str) -> Job {
        self.ticking_with(name, |_| ()).await
    }

    pub async fn ticking_with(&self, name: &str, change: impl FnOnce(&mut JobDraft)) -> Job {
        let mut draft = JobDraft { schedule: ScheduleDraft::cron("* * * * * ?", "UTC"), ..draft(name) };
        change(&mut draft);
        self.create(&draft).await
    }

    /// Two jobs or more of one shard, in the order of their ids.
    pub async fn of_one_shard(&self, count: usize) -> Vec<Job> {
        let mut jobs: Vec<Job> = vec![];
        while jobs.len() < count {
            let job = self.ticking("tick").await;
            if jobs.first().is_none_or(|first| first.shard == job.shard) {
                jobs.push(job);
            } else {
                self.store.jobs().delete(job.id, NOW, &actor()).await.unwrap();
            }
        }
        jobs
    }

    /// The node `a` takes the shard; its new epoch.
    pub async fn take(&self, shard: i32) -> i64 {
        let taken = self.store.leases().take(shard, "a", NOW, TTL).await.unwrap();
        taken.expect("the shard is free or already a's")
    }

    /// Run `state`s of a job under the epoch 1, one for each second from now on; their ids.
    pub async fn runs_in(&self, job: &Job, states: &[RunState]) -> Vec<i64> {
        let mut ids = vec![];
        for (second, state) in (0..).zip(states) {
            let row = Row { fire_no: NOW + second * 1000, state: state.code(), ..Row::default() };
            ids.push(self.run(job, row).await);
        }
        ids
    }

    pub async fn row(&self, run_id: i64) -> RunRow {
        let mut rows = self.rows_where(&format!("id = {run_id}")).await;
        assert_eq!(rows.len(), 1, "run {run_id}");
        rows.remove(0)
    }

    pub async fn rows_where(&self, condition: &str) -> Vec<RunRow> {
        let text = format!("SELECT * FROM run WHERE {condition} ORDER BY id");
        let statement = Statement::from_string(self.raw.get_database_backend(), text);
        RunRow::find_by_statement(statement).all(&self.raw).await.unwrap()
    }

    /// The cursors of all jobs, by job: `(job, next_fire_at)`.
    pub async fn cursors(&self) -> Vec<(i64, Millis)> {
        self.rows("SELECT job_id, next_fire_at FROM job_clock ORDER BY job_id")
            .await
            .iter()
            .map(|row| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap()))
            .collect()
    }
}

/// A connection beside the store's.
pub async fn connect(db: &TestDatabase) -> DatabaseConnection {
    sea_orm::Database::connect(db.direct_url()).await.unwrap()
}

pub fn due(job: &Job) -> DueJob {
    DueJob { job_id: job.id, next_fire_at: job.next_fire_at.unwrap(), revision: job.revision }
}

/// Claims these fires; the cursor goes on one second after the last.
pub fn claim(job: &Job, fires: &[(i64, Millis)]) -> JobClaim {
    JobClaim {
        counted: false,
        due: due(job),
        fires: fires.to_vec(),
        skipped: vec![],
        next_fire_at: fires.last().map(|(_, at)| at + 1000),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct RunRow {
    pub id: i64,
    pub job_id: i64,
    pub app_id: i64,
    pub shard: i32,
    pub cause: i16,
    pub fire_no: i64,
    pub part: i32,
    pub parts: i32,
    pub attempt: i32,
    pub scheduled_at: i64,
    pub due_at: i64,
    pub state: i16,
    pub epoch: i64,
    pub owner: Option<String>,
    pub mark_token: Option<i64>,
    pub marked_at: Option<i64>,
    pub sends: i32,
    pub address: Option<String>,
    pub boot_id: Option<String>,
    pub sent_at: Option<i64>,
    pub reason: Option<String>,
    pub result_code: Option<i32>,
    pub result_msg: Option<String>,
    pub kill_asked_at: Option<i64>,
    pub finished_at: Option<i64>,
    pub candidates_id: Option<i64>,
    pub route_code: Option<i16>,
}

impl RunRow {
    pub fn state(&self) -> RunState {
        RunState::from_code(self.state).unwrap()
    }
}
