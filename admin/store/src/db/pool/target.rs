//! Where a connection goes, and what its session is set to before it is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sea_orm::DbBackend;
use sea_orm::sqlx::mysql::MySqlConnectOptions;
use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::sqlite::SqliteConnectOptions;

#[derive(Clone)]
pub enum Target {
    Sqlite(SqliteConnectOptions),
    Postgres(PgConnectOptions),
    MySql(MySqlConnectOptions),
}

impl Target {
    pub fn backend(&self) -> DbBackend {
        match self {
            Self::Sqlite(_) => DbBackend::Sqlite,
            Self::Postgres(_) => DbBackend::Postgres,
            Self::MySql(_) => DbBackend::MySql,
        }
    }
}

/// `lock`: how long a statement waits for a row. `idle`: how long the server keeps a transaction whose client is silent;
/// otherwise the locks of a dead node would outlive its lease by hours. `statement`: when the server ends a statement by
/// itself; only for pages, whose statements may scan.
pub struct Session {
    pub lock: Duration,
    pub idle: Duration,
    pub statement: Option<Duration>,
}

/// PostgreSQL ends a session whose client has been silent for a minute, and with it the session's locks.
pub const KEEPALIVES: &str =
    "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3";

impl Session {
    /// What the claims are proved under is not left to the server's settings: MySQL's default is REPEATABLE READ.
    pub fn settings(&self, backend: DbBackend) -> Vec<String> {
        let (lock, idle) = (self.lock.as_secs(), self.idle.as_secs());
        match backend {
            DbBackend::Postgres => {
                let statement = self.statement.map_or(0, |limit| limit.as_millis());
                vec![format!(
                    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED; \
                     SET lock_timeout = '{lock}s'; SET idle_in_transaction_session_timeout = '{idle}s'; \
                     SET statement_timeout = {statement}; {KEEPALIVES}"
                )]
            }
            DbBackend::MySql => {
                let (seconds, millis) = self.statement.map_or((0, 0), |limit| (limit.as_secs(), limit.as_millis()));
                // `/*M!` is read by MariaDB alone, `/*!50708` by MySQL alone. MySQL has no limit for a silent transaction
                // but that for any silent connection.
                vec![
                    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".into(),
                    format!(
                        "SET SESSION innodb_lock_wait_timeout = {lock}, lock_wait_timeout = {lock}, wait_timeout = 900 \
                         /*M!100300 , idle_transaction_timeout = {idle}, max_statement_time = {seconds} */ \
                         /*!50708 , wait_timeout = 30, max_execution_time = {millis} */"
                    ),
                ]
            }
            _ => vec![],
        }
    }
}

/// Until when a SQLite connection may work on its statement. SQLite asks every few thousand steps, in its own thread.
#[derive(Clone)]
pub struct Deadline {
    start: Instant,
    at_ms: Arc<AtomicU64>,
}

impl Deadline {
    pub fn none() -> Self {
        Self { start: Instant::now(), at_ms: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    pub fn set(&self, limit: Option<Duration>) {
        let at = limit.map_or(u64::MAX, |limit| (self.start.elapsed() + limit).as_millis() as u64);
        self.at_ms.store(at, Ordering::Relaxed);
    }

    pub fn has_passed(&self) -> bool {
        let at = self.at_ms.load(Ordering::Relaxed);
        at != u64::MAX && self.start.elapsed().as_millis() as u64 >= at
    }
}
