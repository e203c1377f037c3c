//! The store: its pools, and what every statement needs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use carillon_scheduler::{Millis, Zone};
use sea_orm::{ConnectionTrait as _, DbBackend};

use crate::audit::refusal_limit::Refusals;
use crate::calendar::pinned;
use crate::db::connect::Database;
#[cfg(feature = "failpoints")]
use crate::db::full_disk;
use crate::db::pool::connection_pool::Pool;
use crate::db::pool::transaction::Transaction;
use crate::db::{connect, ids, set_aside};
use crate::error::{Error, Result};
use crate::people::token_sources::TokenSources;
use crate::workflow::recent_graphs::RecentGraphs;

/// Everything that outlives the process. One pool for each kind of work: see `connect::Pools`.
pub struct Store {
    /// Leases, claims, marks and results. On SQLite its one connection is the only writer.
    pub(crate) write: Pool,
    pub(crate) engine_reads: Pool,
    /// What people, programs and executors ask to be written; it cannot use up the engine's connections.
    pub(crate) changes: Pool,
    /// Reads of pages and lists. A statement is ended after 5 s.
    pub(crate) read: Pool,
    pub(crate) backend: DbBackend,
    /// For the migrations, which open connections of their own.
    pub(crate) database: Database,
    pub(crate) ids: ids::Blocks,
    pub(crate) calendars: pinned::Parsed,
    pub(crate) graphs: RecentGraphs,
    /// Once true it stays: every request without a session asks.
    pub(crate) has_accounts: AtomicBool,
    pub(crate) set_aside: set_aside::SetAside,
    pub(crate) refusals: Refusals,
    /// Where tokens were used from.
    pub(crate) token_sources: TokenSources,
    /// The zone whose days the summaries of runs count.
    pub(crate) report_zone: Zone,
    /// Held as long as this process uses the SQLite file.
    _file_lock: Option<std::fs::File>,
}

impl Store {
    /// Opens the database; does not touch its schema. See [`Store::migrate`] and [`Store::check_schema`].
    pub async fn open(database: &Database) -> Result<Arc<Self>> {
        Self::open_for(database, connect::STATEMENT, Zone::UTC).await
    }

    /// The same for a node whose leases last `ttl` (on a server no statement of the engine is waited for longer), and whose
    /// summaries count the days of `report_zone`.
    pub async fn open_for(database: &Database, ttl: Duration, report_zone: Zone) -> Result<Arc<Self>> {
        Ok(Self::with_pools(database, connect::open(database, ttl).await?, report_zone))
    }

    /// For a command that changes something, and ends: possible while a node works, on SQLite too.
    pub async fn open_beside(database: &Database) -> Result<Arc<Self>> {
        Ok(Self::with_pools(database, connect::open_beside(database).await?, Zone::UTC))
    }

    fn with_pools(database: &Database, pools: connect::Pools, report_zone: Zone) -> Arc<Self> {
        let backend = pools.engine.get_database_backend();
        #[cfg(feature = "failpoints")]
        if backend == DbBackend::Sqlite {
            tokio::spawn(full_disk::watch(pools.engine.clone()));
        }
        Arc::new(Self {
            write: pools.engine,
            engine_reads: pools.engine_reads,
            changes: pools.changes,
            read: pools.pages,
            backend,
            database: database.clone(),
            ids: ids::Blocks::default(),
            calendars: pinned::Parsed::default(),
            graphs: RecentGraphs::default(),
            has_accounts: AtomicBool::new(false),
            _file_lock: pools.file_lock,
            set_aside: set_aside::SetAside::default(),
            refusals: Refusals::default(),
            token_sources: TokenSources::default(),
            report_zone,
        })
    }

    /// Opens it for reading only. On SQLite that needs no lock: a node may go on working with the file.
    pub async fn open_read_only(database: &Database) -> Result<Arc<Self>> {
        let pool = connect::open_read_only(database).await?;
        let (engine, engine_reads, changes) = (pool.clone(), pool.clone(), pool.clone());
        Ok(Self::with_pools(
            database,
            connect::Pools { engine, engine_reads, changes, pages: pool, file_lock: None },
            Zone::UTC,
        ))
    }

    /// The day on which reports count a time, in days since 1970-01-01.
    pub fn report_day(&self, at: Millis) -> i32 {
        self.report_zone.day_of(at)
    }

    /// The zone whose days the reports count.
    pub fn report_zone(&self) -> Zone {
        self.report_zone
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
    pub(crate) async fn begin(&self) -> Result<Transaction> {
        Ok(self.write.begin().await?)
    }

    /// The same for what a person, a program or an executor asks for.
    pub(crate) async fn begin_change(&self) -> Result<Transaction> {
        Ok(self.changes.begin().await?)
    }
}
