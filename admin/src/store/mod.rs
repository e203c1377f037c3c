//! The database: domain verbs, one transaction a method. Names sea-orm; knows `scheduler` and `migrations` only.
//!
//! The invariant kept here is that of the three committed writes (claim, mark, settle): each is one transaction or one
//! conditional statement, and tells its caller exactly which rows it won.

mod app;
mod astray;
mod audit;
pub mod audit_gap;
mod calendar;
mod calendar_use;
pub mod check;
mod children;
mod connect;
pub mod deleted;
mod dialect;
mod error;
mod escalate;
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
mod row;
mod run_list;
mod run_lock;
mod run_params;
mod run_view;
mod schema;

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

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, ExecResult, QueryResult,
    SqliteTransactionMode, TransactionOptions, TransactionTrait, Value,
};

pub use app::App;
pub use audit::{Actor, AuditEntry};
pub use calendar::{CalendarVersion, NamedCalendar};
pub use calendar_use::Calendars;
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

pub type Result<T> = std::result::Result<T, Error>;

/// Everything that outlives the process.
pub struct Store {
    /// Claims, marks, settles and edits. On SQLite its one connection is the only writer.
    write: DatabaseConnection,
    /// Reads of pages and lists, so that a slow page cannot hold up a claim.
    read: DatabaseConnection,
    backend: DbBackend,
    ids: ids::Blocks,
    calendars: calendar_use::Parsed,
    /// Held as long as this process uses the SQLite file.
    _file_lock: Option<std::fs::File>,
}

impl Store {
    /// Opens the database; does not touch its schema. See [`Store::migrate`] and [`Store::check_schema`].
    pub async fn open(database: &Database) -> Result<Arc<Self>> {
        let (write, read, file_lock) = connect::open(database).await?;
        let backend = write.get_database_backend();
        #[cfg(feature = "failpoints")]
        if backend == DbBackend::Sqlite {
            tokio::spawn(full_disk::watch(write.clone()));
        }
        Ok(Arc::new(Self {
            write,
            read,
            backend,
            ids: ids::Blocks::default(),
            calendars: calendar_use::Parsed::default(),
            _file_lock: file_lock,
        }))
    }

    /// Opens it for reading only. On SQLite that needs no lock: a node may go on working with the file.
    pub async fn open_to_look(database: &Database) -> Result<Arc<Self>> {
        let read = connect::open_to_look(database).await?;
        let backend = read.get_database_backend();
        Ok(Arc::new(Self {
            write: read.clone(),
            read,
            backend,
            ids: ids::Blocks::default(),
            calendars: calendar_use::Parsed::default(),
            _file_lock: None,
        }))
    }

    /// True where this process is the only one that can use the database.
    pub fn is_exclusive(&self) -> bool {
        self.backend == DbBackend::Sqlite
    }

    /// Is the database there?
    pub async fn ping(&self) -> Result<()> {
        self.read.ping().await.map_err(Error::from)
    }

    /// A writing transaction: READ COMMITTED, on SQLite BEGIN IMMEDIATE (a deferred one that upgrades fails at once).
    async fn begin(&self) -> Result<DatabaseTransaction> {
        let options = TransactionOptions {
            isolation_level: None,
            access_mode: None,
            sqlite_transaction_mode: (self.backend == DbBackend::Sqlite)
                .then_some(SqliteTransactionMode::Immediate),
        };
        Ok(self.write.begin_with_options(options).await?)
    }

    /// Where the engine's own reads go: beside the one writer on SQLite, apart from the pages' reads elsewhere.
    fn hot_reads(&self) -> &DatabaseConnection {
        if self.backend == DbBackend::Sqlite {
            &self.read
        } else {
            &self.write
        }
    }

    /// The row locks of a read inside a writing transaction; SQLite has the whole file already.
    fn for_update(&self) -> &'static str {
        if self.backend == DbBackend::Sqlite {
            ""
        } else {
            " FOR UPDATE"
        }
    }

    async fn all(
        &self,
        db: &impl ConnectionTrait,
        text: &str,
        values: Vec<Value>,
    ) -> Result<Vec<QueryResult>> {
        Ok(db
            .query_all_raw(dialect::statement(self.backend, text, values))
            .await?)
    }

    /// The first column of each row.
    async fn ids_of(
        &self,
        db: &impl ConnectionTrait,
        text: &str,
        values: Vec<Value>,
    ) -> Result<Vec<i64>> {
        let rows = self.all(db, text, values).await?;
        rows.iter()
            .map(|row| Ok(row.try_get_by_index(0)?))
            .collect()
    }

    async fn one(
        &self,
        db: &impl ConnectionTrait,
        text: &str,
        values: Vec<Value>,
    ) -> Result<Option<QueryResult>> {
        Ok(db
            .query_one_raw(dialect::statement(self.backend, text, values))
            .await?)
    }

    async fn execute(
        &self,
        db: &impl ConnectionTrait,
        text: &str,
        values: Vec<Value>,
    ) -> Result<ExecResult> {
        Ok(db
            .execute_raw(dialect::statement(self.backend, text, values))
            .await?)
    }
}
