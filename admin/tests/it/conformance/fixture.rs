//! What the tests of the job store start from: a migrated database, an app, and rows as an engine would have left them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use carillon_scheduler::{JobDraft, Millis, ScheduleDraft, Zone};
use carillon_store::{Actor, App, Definition, Job, RunFilter, RunView, Store};
use sea_orm::{ConnectionTrait, DatabaseConnection, QueryResult, Statement};

use crate::services::TestDatabase;

/// 400 ms after a whole minute, so that "now" is no instant.
pub const NOW: Millis = 1_760_000_040_400;
/// The second before.
pub const SECOND: Millis = 1_760_000_040_000;
pub const SHARDS: i32 = 4;

pub struct Fixture {
    pub store: Arc<Store>,
    pub app: App,
    /// A connection beside the store's, to look and to meddle.
    pub raw: DatabaseConnection,
}

impl Fixture {
    pub async fn new(db: &TestDatabase) -> Self {
        Self::counting_days_of(db, Zone::UTC).await
    }

    /// The store's reports count the days of this zone.
    pub async fn counting_days_of(db: &TestDatabase, zone: Zone) -> Self {
        let store = Store::open_for(&db.store(), Duration::from_secs(10), zone).await.unwrap();
        store.migrate().await.unwrap();
        store.leases().ensure_shards(Some(SHARDS)).await.unwrap();
        let app = store.apps().create("billing", "Billing", NOW, &actor()).await.unwrap();
        let mut options = sea_orm::ConnectOptions::new(db.direct_url());
        // A test that writes without a pause holds up a statement beside it for long, on a busy machine.
        options.map_sqlx_sqlite_opts(|sqlite| sqlite.busy_timeout(Duration::from_secs(60)));
        let raw = sea_orm::Database::connect(options).await.unwrap();
        Self { store, app, raw }
    }

    pub fn definition(&self, draft: &JobDraft) -> Definition {
        Definition::check(&self.app, draft, NOW).unwrap()
    }

    pub async fn create(&self, draft: &JobDraft) -> Job {
        let create = async || self.store.jobs().create(vec![self.definition(draft)], NOW, &actor(), None).await;
        repeated(create).await.into_iter().next().unwrap()
    }

    /// A job that fires each second and whose instants are claimed up to, not including, `cursor`.
    pub async fn every_second(&self, claimed: &[Millis], cursor: Millis) -> Job {
        let job = self.create(&each("* * * * * ?")).await;
        for instant in claimed {
            self.run(&job, Row { fire_no: *instant, ..Row::default() }).await;
        }
        self.set_cursor(&job, cursor).await;
        self.store.jobs().get(job.id).await.unwrap().unwrap()
    }

    pub async fn set_cursor(&self, job: &Job, cursor: Millis) {
        let text = format!("UPDATE job_clock SET next_fire_at = {cursor} WHERE job_id = {}", job.id);
        self.sql(&text).await;
    }

    /// A row of `run`; its id is `row.id`, or any free one.
    pub async fn run(&self, job: &Job, row: Row) -> i64 {
        let id = if row.id > 0 { row.id } else { 1_000_000 + self.count("run", "1 = 1").await };
        let Row { cause, fire_no, attempt, state, .. } = row;
        let due = if row.due_at > 0 { row.due_at } else { fire_no };
        let reason = row.reason.map_or("NULL".to_owned(), |reason| format!("'{reason}'"));
        self.sql(&format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, \
             epoch, sends, reason) VALUES ({id}, {}, {}, {}, {cause}, {fire_no}, 0, 1, {attempt}, {fire_no}, {due}, {state}, \
             1, 0, {reason})",
            job.id, job.app_id, job.shard
        ))
        .await;
        id
    }

    pub async fn sql(&self, text: &str) {
        self.raw.execute_unprepared(text).await.unwrap();
    }

    pub async fn rows(&self, text: &str) -> Vec<QueryResult> {
        let statement = Statement::from_string(self.raw.get_database_backend(), text);
        self.raw.query_all_raw(statement).await.unwrap()
    }

    pub async fn count(&self, table: &str, condition: &str) -> i64 {
        let rows = self.rows(&format!("SELECT COUNT(*) FROM {table} WHERE {condition}")).await;
        rows[0].try_get_by_index(0).unwrap()
    }

    /// All runs of a job, oldest instant first.
    pub async fn runs(&self, job: &Job) -> Vec<RunView> {
        let mut filter = RunFilter { job_id: Some(job.id), limit: 1000, ..RunFilter::default() };
        let mut runs = vec![];
        // A page may find none of many: some ids are made up here, and far from the others.
        loop {
            let page = self.store.runs().list(&filter).await.unwrap();
            runs.extend(page.items);
            filter.after = page.next;
            if filter.after.is_none() {
                break;
            }
        }
        runs.sort_by_key(|run| (run.fire_no, run.attempt));
        runs
    }

    /// Each of the job's runs as `second:state`, seconds counted from [`SECOND`].
    pub async fn story(&self, job: &Job) -> String {
        let word = |run: &RunView| {
            let reason = run.reason.as_ref().map_or(String::new(), |reason| format!("({reason})"));
            format!("{}:{}{reason}", (run.fire_no - SECOND) / 1000, run.state)
        };
        self.runs(job).await.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

/// What differs from run to run.
pub struct Row {
    pub id: i64,
    pub cause: i16,
    pub fire_no: i64,
    pub attempt: i32,
    pub state: i16,
    /// 0: the instant.
    pub due_at: Millis,
    pub reason: Option<&'static str>,
}

impl Default for Row {
    fn default() -> Self {
        Self { id: 0, cause: 0, fire_no: SECOND, attempt: 1, state: 0, due_at: 0, reason: None }
    }
}

pub fn actor() -> Actor {
    Actor::unlimited("ada", "127.0.0.1")
}

pub fn draft(name: &str) -> JobDraft {
    JobDraft::new("billing", name, "closeDay")
}

pub fn each(cron: &str) -> JobDraft {
    JobDraft { schedule: ScheduleDraft::cron(cron, "UTC"), ..draft("tick") }
}

/// This number of seconds after [`SECOND`].
pub fn after(seconds: i64) -> Millis {
    SECOND + seconds * 1000
}

/// What a call answers once the database is there for it: on a busy machine a connection may not be free within seconds. The
/// call must be one that may be repeated.
pub async fn repeated<T>(call: impl AsyncFn() -> carillon_store::Result<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match call().await {
            Err(error) if error.is_transient() && Instant::now() < end => {}
            other => return other.unwrap(),
        }
    }
}
