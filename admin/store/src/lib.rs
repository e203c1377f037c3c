#![doc = include_str!("../README.md")]

#[macro_use]
pub mod db;

pub mod alarm;
pub mod app;
mod audit;
pub mod backfill;
pub mod calendar;
mod error;
pub mod failpoint;
pub mod job;
pub mod lease;
pub mod people;
pub mod retention;
pub mod run;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sea_orm::{ConnectionTrait as _, DbBackend};

pub use app::apps::App;
pub use audit::{Actor, AuditEntry};
pub use calendar::calendars::{CalendarVersion, NamedCalendar};
pub use calendar::pinned::{Calendars, VersionKey};
pub use db::connect::Database;
pub use db::request_key::MAX_KEY_CHARS;
pub use db::set_aside::Unreadable;
pub use db::sql::filter::Page;
pub use error::Error;
pub use job::in_force::InForce;
pub use job::list::JobFilter;
pub use job::next_fires::NextFire;
pub use job::stored_job::{Definition, Job, Surroundings};
pub use run::params::RunParams;
pub use run::view::list::RunFilter;
pub use run::view::misfires::{Misfire, MisfireFilter, MisfireKey};
pub use run::view::run_view::{RunView, sentence};

use calendar::pinned;
#[cfg(feature = "failpoints")]
use db::full_disk;
use db::pool::connection_pool::Pool;
use db::pool::transaction::Transaction;
use db::{connect, ids, set_aside};

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
    calendars: pinned::Parsed,
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
            calendars: pinned::Parsed::default(),
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
            calendars: pinned::Parsed::default(),
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
}
