//! The database: domain verbs, one transaction a method. Names sea-orm; knows `scheduler` and `migrations` only.
//!
//! The invariant kept here is that of the three committed writes (claim, mark, settle): each is one transaction or one
//! conditional statement, and tells its caller exactly which rows it won.

mod app;
pub mod astray;
mod audit;
pub mod audit_gap;
mod calendar;
mod calendar_use;
pub mod check;
mod children;
mod connect;
mod data_file;
pub mod deleted;
mod dialect;
mod error;
mod escalate;
pub mod failpoint;
mod filter;
mod forecast;
mod forgotten;
#[cfg(feature = "failpoints")]
mod full_disk;
pub mod history;
mod idempotency;
pub mod ids;
mod job;
mod job_create;
mod job_edit;
mod job_list;
mod job_lock;
mod job_rows;
mod misfire_list;
mod next_fires;
mod pool;
mod reach;
mod row;
mod run_list;
mod run_lock;
mod run_params;
mod run_view;
mod schema;
mod set_aside;

pub mod account;
pub mod adopt;
pub mod alarm;
pub mod attend;
pub mod backfill;
pub mod choice;
pub mod claim;
pub mod definition;
pub mod executor;
mod executor_setting;
mod expand;
pub mod fire;
pub mod give_back;
pub mod in_doubt;
pub mod mark;
pub mod node;
pub mod overlap;
pub mod overview;
pub mod pending;
#[doc(hidden)]
pub mod plans;
pub mod prune;
mod prune_rest;
mod quarantine;
pub mod reshard;
pub mod retention;
pub mod session;
pub mod settle;
pub mod shard;
pub mod throttle;
pub mod watch;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sea_orm::{ConnectionTrait, DbBackend, ExecResult, QueryResult, Value};

pub use app::App;
pub use audit::{Actor, AuditEntry};
pub use calendar::{CalendarVersion, NamedCalendar};
pub use calendar_use::{Calendars, VersionKey};
pub use connect::Database;
pub use error::Error;
pub use filter::Page;
pub use forecast::InForce;
pub use idempotency::MAX_KEY_CHARS;
pub use job::{Definition, Job, Surroundings};
pub use job_list::JobFilter;
pub use misfire_list::{Misfire, MisfireFilter, MisfireKey};
pub use next_fires::NextFire;
pub use run_list::RunFilter;
pub use run_params::RunParams;
pub use run_view::{RunView, sentence};
pub use set_aside::Unreadable;

use pool::{Pool, Transaction};

pub type Result<T> = std::result::Result<T, Error>;

/// Everything that outlives the process. One pool for each kind of work: see `connect::Pools`.
pub struct Store {
    /// Leases, claims, marks and results. On SQLite its one connection is the only writer.
    write: Pool,
    engine_reads: Pool,
    /// What people, programs and executors ask to be written; it cannot use up the engine's connections.
    changes: Pool,
    /// Reads of pages and lists. A statement is ended after 5 s.
    read: Pool,
    backend: DbBackend,
    /// For the migrations, which open connections of their own.
    database: Database,
    ids: ids::Blocks,
    calendars: calendar_use::Parsed,
    /// Once true it stays: every request without a session asks.
    has_accounts: AtomicBool,
    set_aside: set_aside::SetAside,
    /// Held as long as this process uses the SQLite file.
    _file_lock: Option<std::fs::File>,
}

impl Store {
    /// Opens the database; does not touch its schema. See [`Store::migrate`] and [`Store::check_schema`].
    pub async fn open(database: &Database) -> Result<Arc<Self>> {
        Self::open_for(database, connect::STATEMENT).await
    }

    /// The same for a node whose leases last `ttl`: on a server no statement of the engine is waited for longer.
    pub async fn open_for(database: &Database, ttl: Duration) -> Result<Arc<Self>> {
        let pools = connect::open(database, ttl).await?;
        let backend = pools.engine.get_database_backend();
        #[cfg(feature = "failpoints")]
        if backend == DbBackend::Sqlite {
            tokio::spawn(full_disk::watch(pools.engine.clone()));
        }
        Ok(Arc::new(Self {
            write: pools.engine,
            engine_reads: pools.engine_reads,
            changes: pools.changes,
            read: pools.pages,
            backend,
            database: database.clone(),
            ids: ids::Blocks::default(),
            calendars: calendar_use::Parsed::default(),
            has_accounts: AtomicBool::new(false),
            _file_lock: pools.file_lock,
            set_aside: set_aside::SetAside::default(),
        }))
    }

    /// Opens it for reading only. On SQLite that needs no lock: a node may go on working with the file.
    pub async fn open_to_look(database: &Database) -> Result<Arc<Self>> {
        let pool = connect::open_to_look(database).await?;
        Ok(Arc::new(Self {
            backend: pool.get_database_backend(),
            write: pool.clone(),
            engine_reads: pool.clone(),
            changes: pool.clone(),
            read: pool,
            database: database.clone(),
            ids: ids::Blocks::default(),
            calendars: calendar_use::Parsed::default(),
            has_accounts: AtomicBool::new(false),
            set_aside: set_aside::SetAside::default(),
            _file_lock: None,
        }))
    }

    /// True where this process is the only one that can use the database.
    pub fn is_exclusive(&self) -> bool {
        self.backend == DbBackend::Sqlite
    }

    /// Is the database there? Asked where the engine reads: pages that are slow make no node unready.
    pub async fn ping(&self) -> Result<()> {
        self.engine_reads.ping().await.map_err(Error::from)
    }

    /// A writing transaction of the engine: READ COMMITTED, on SQLite BEGIN IMMEDIATE.
    async fn begin(&self) -> Result<Transaction> {
        Ok(self.write.begin().await?)
    }

    /// The same for what a person, a program or an executor asks for.
    async fn begin_change(&self) -> Result<Transaction> {
        Ok(self.changes.begin().await?)
    }

    /// Where the engine reads: never where pages do.
    fn hot_reads(&self) -> &Pool {
        &self.engine_reads
    }

    /// The row locks of a read inside a writing transaction; SQLite has the whole file already.
    fn for_update(&self) -> &'static str {
        if self.backend == DbBackend::Sqlite { "" } else { " FOR UPDATE" }
    }

    async fn all(&self, db: &impl ConnectionTrait, text: &str, values: Vec<Value>) -> Result<Vec<QueryResult>> {
        Ok(db.query_all_raw(dialect::statement(self.backend, text, values)).await?)
    }

    /// The first column of each row.
    async fn ids_of(&self, db: &impl ConnectionTrait, text: &str, values: Vec<Value>) -> Result<Vec<i64>> {
        let rows = self.all(db, text, values).await?;
        rows.iter().map(|row| Ok(row.try_get_by_index(0)?)).collect()
    }

    async fn one(&self, db: &impl ConnectionTrait, text: &str, values: Vec<Value>) -> Result<Option<QueryResult>> {
        Ok(db.query_one_raw(dialect::statement(self.backend, text, values)).await?)
    }

    async fn execute(&self, db: &impl ConnectionTrait, text: &str, values: Vec<Value>) -> Result<ExecResult> {
        Ok(db.execute_raw(dialect::statement(self.backend, text, values)).await?)
    }
}
