//! Opening the database: which pools there are, how large they are, and how long each waits.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::ConnectOptions as _;
use sea_orm::sqlx::mysql::MySqlConnectOptions;
use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sea_orm::{ConnectOptions, ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};

use crate::db::pool::connection_pool::Pool;
use crate::db::pool::shared::{Health, Limits};
use crate::db::pool::target::{Session, Target};
use crate::db::{data_file, reach};
use crate::error::{Error, Result};

/// Where the data is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// A file of this machine, used by one process at a time.
    Sqlite { path: PathBuf },
    /// `postgres://…` or `mysql://…`; several nodes may share it.
    Server { url: String },
}

/// How long one statement of the engine may take on a server: less than a lease of ten seconds, so a node that gives a dead
/// connection up still holds its shards or takes them at once.
pub const STATEMENT: Duration = Duration::from_secs(8);
/// The longest time that a statement waits for a lock; such a wait is no sign of a dead connection.
const LOCK: Duration = Duration::from_secs(3);
/// Another connection reads the same disk, so nothing is won by giving up earlier.
const FILE_STATEMENT: Duration = Duration::from_secs(30);
/// Pages, lists and API reads.
const PAGE: Duration = Duration::from_secs(5);
/// The database itself ends the statement of a page; only if it does not, the connection is given up.
const PAGE_ANSWER: Duration = Duration::from_secs(7);
/// Commands of the console such as `carillon audit`, which may read everything.
const COMMAND: Duration = Duration::from_secs(600);
const ACQUIRE: Duration = Duration::from_secs(5);
/// Waiting for the one writing connection of a file is waiting for a turn, and no sign that the database is away.
const FILE_TURN: Duration = Duration::from_secs(20);

/// One pool for each kind of work, so that none can use up the connections of another.
pub struct Pools {
    /// Leases, claims, marks, results: what the engine writes.
    pub engine: Pool,
    /// What the engine reads beside it.
    pub engine_reads: Pool,
    /// What people, programs and executors ask to be written: API, console, heartbeats.
    pub changes: Pool,
    /// What pages, lists and the API read.
    pub pages: Pool,
    pub file_lock: Option<File>,
}

/// Statements that a connection keeps prepared. The engine has about 200, and the driver's default is 100. On MySQL a full cache costs
/// more than the statement: the driver closes another one and sends the next without waiting, which Nagle's algorithm holds back until
/// the server acknowledges the first, 40 ms later.
const STATEMENTS: usize = 300;

/// Connections of one node to a server; `admin/docs/database.md` has the sum.
const ENGINE: usize = 8;
const ENGINE_READS: usize = 3;
const CHANGES: usize = 4;
const PAGES: usize = 4;
/// Beside the one writing connection of a SQLite file.
const FILE_READS: usize = 3;

pub async fn open(database: &Database, statement: Duration) -> Result<Pools> {
    let target = target(database)?;
    match database {
        Database::Sqlite { path } => open_file(path, target, Some(data_file::lock(path)?)).await,
        Database::Server { .. } => {
            // A statement that waits for a lock must not look like one without an answer.
            open_server(target, statement.clamp(LOCK + Duration::from_secs(1), STATEMENT)).await
        }
    }
}

/// For a command that may run beside a node: SQLite itself keeps the writers of two processes apart. A second node would keep a ring
/// of its own over the same runs, and so it needs the lock of the file; a command keeps nothing.
pub async fn open_beside(database: &Database) -> Result<Pools> {
    match database {
        Database::Sqlite { path } => open_file(path, target(database)?, None).await,
        Database::Server { .. } => open(database, STATEMENT).await,
    }
}

async fn open_server(target: Target, statement: Duration) -> Result<Pools> {
    let health = Arc::new(Health::default());
    let session = |statement| {
        let session = Session { lock: LOCK, idle: STATEMENT, statement };
        session.settings(target.backend())
    };
    let pool = |name, size, limit, ended_by_server| {
        let limits = limits(limit, None);
        let session = session(ended_by_server);
        Pool::new(name, size, target.clone(), session, limits, &health)
    };
    let engine = pool("engine", ENGINE, statement, None);
    reach::first(&engine, &target, ACQUIRE).await?;
    refuse_statement_log(&engine).await?;
    Ok(Pools {
        engine,
        engine_reads: pool("engine reads", ENGINE_READS, statement, None),
        changes: pool("changes", CHANGES, statement, None),
        pages: pool("pages", PAGES, PAGE_ANSWER, Some(PAGE)),
        file_lock: None,
    })
}

async fn open_file(path: &Path, target: Target, file_lock: Option<File>) -> Result<Pools> {
    let health = Arc::new(Health::default());
    let engine =
        Pool::new("engine", 1, target, vec![], Limits { acquire: FILE_TURN, ..limits(FILE_STATEMENT, None) }, &health);
    reach::first(&engine, &target_of_file(path, false), ACQUIRE).await?;
    let reads = |name, interrupt| {
        let limits = limits(FILE_STATEMENT, interrupt);
        Pool::new(name, FILE_READS, target_of_file(path, true), vec![], limits, &health)
    };
    Ok(Pools {
        changes: engine.behind_a_gate(),
        engine,
        engine_reads: reads("engine reads", None),
        pages: reads("pages", Some(PAGE)),
        file_lock,
    })
}

fn limits(statement: Duration, interrupt: Option<Duration>) -> Limits {
    Limits { acquire: ACQUIRE, statement, interrupt }
}

/// A pool that writes nothing on SQLite; elsewhere it is up to its user.
pub async fn open_read_only(database: &Database) -> Result<Pool> {
    let target = match database {
        Database::Sqlite { path } => target_of_file(path, true),
        Database::Server { .. } => target(database)?,
    };
    let session = Session { lock: LOCK, idle: COMMAND, statement: None };
    let pool = Pool::new(
        "command",
        2,
        target.clone(),
        session.settings(target.backend()),
        limits(COMMAND, None),
        &Arc::default(),
    );
    reach::first(&pool, &target, ACQUIRE).await?;
    Ok(pool)
}

/// For the migrations, whose steps may take as long as they need. Closed when they are done.
pub async fn open_to_migrate(database: &Database) -> Result<DatabaseConnection> {
    let mut options = match database {
        Database::Sqlite { path } => {
            let file = file_options(path, false);
            let mut options = ConnectOptions::new(format!("sqlite://{}", path.display()));
            options.map_sqlx_sqlite_opts(move |_| file.clone());
            options
        }
        Database::Server { url } => ConnectOptions::new(url.clone()),
    };
    options.max_connections(2).acquire_timeout(ACQUIRE).sqlx_logging(false);
    Ok(sea_orm::Database::connect(options).await?)
}

fn target(database: &Database) -> Result<Target> {
    let wrong = |error: sea_orm::sqlx::Error| Error::Settings(format!("--database-url: {error}"));
    Ok(match database {
        Database::Sqlite { path } => target_of_file(path, false),
        Database::Server { url } if url.starts_with("postgres") => {
            let options = PgConnectOptions::from_str(url).map_err(wrong)?.statement_cache_capacity(STATEMENTS);
            Target::Postgres(options.disable_statement_logging())
        }
        Database::Server { url } => {
            let options = MySqlConnectOptions::from_str(url).map_err(wrong)?.statement_cache_capacity(STATEMENTS);
            Target::MySql(options.disable_statement_logging())
        }
    })
}

/// Page caches in KiB, as SQLite spells them. The operating system caches the file as well, so readers need little.
const WRITER_CACHE: &str = "-32768";
const READER_CACHE: &str = "-8192";

fn target_of_file(path: &Path, read_only: bool) -> Target {
    Target::Sqlite(file_options(path, read_only))
}

fn file_options(path: &Path, read_only: bool) -> SqliteConnectOptions {
    // `query_only` instead of opening read-only: the first reader of a WAL file may have to write its index.
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(5))
        .foreign_keys(true)
        .pragma("cache_size", if read_only { READER_CACHE } else { WRITER_CACHE })
        .pragma("wal_autocheckpoint", "1000")
        // A large statement or sort would write a file to /var/tmp, and fail where the data folder alone can be written.
        .pragma("temp_store", "MEMORY")
        .pragma("query_only", if read_only { "ON" } else { "OFF" })
        .statement_cache_capacity(STATEMENTS)
        // A channel of 50 rows, the default, stops the connection's thread once for each 50 rows.
        .row_buffer_size(1000)
        .disable_statement_logging()
}

/// MySQL refuses every write under READ COMMITTED when its log holds statements.
async fn refuse_statement_log(engine: &Pool) -> Result<()> {
    if engine.get_database_backend() != DbBackend::MySql {
        return Ok(());
    }
    let text = "SHOW VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format')";
    let rows = engine.query_all_raw(Statement::from_string(DbBackend::MySql, text)).await?;
    let mut settings = Vec::new();
    for row in rows {
        settings.push((row.try_get_by_index(0)?, row.try_get_by_index(1)?));
    }
    refuse_statement_format(&settings)
}

fn refuse_statement_format(settings: &[(String, String)]) -> Result<()> {
    let is = |name: &str, value: &str| {
        settings.iter().any(|(n, v)| n.eq_ignore_ascii_case(name) && v.eq_ignore_ascii_case(value))
    };
    if is("log_bin", "ON") && is("binlog_format", "STATEMENT") {
        return Err(Error::Settings(
            "the database has binlog_format=STATEMENT, with which it refuses every write at the isolation level READ COMMITTED; \
             set binlog_format=ROW (or MIXED) in the server"
                .into(),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn rows(db: &Pool) -> i64 {
        let count = Statement::from_string(db.get_database_backend(), "SELECT COUNT(*) FROM t");
        let row = db.query_one_raw(count).await.unwrap().unwrap();
        row.try_get_by_index(0).unwrap()
    }

    // covers: H8
    #[tokio::test]
    async fn after_a_full_disk_what_was_committed_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full.db");
        let pools = open_file(&path, target_of_file(&path, false), None).await.unwrap();
        let (write, read) = (pools.engine, pools.pages);
        write.execute_unprepared("CREATE TABLE t (a TEXT)").await.unwrap();
        // A limit below the size of now is taken as the size of now.
        write.execute_unprepared("PRAGMA max_page_count = 1").await.unwrap();
        let full = write.begin().await.unwrap();
        let large = "INSERT INTO t VALUES (hex(zeroblob(100000)))";
        let error = full.execute_unprepared(large).await.unwrap_err();
        assert!(error.to_string().contains("full"), "{error}");
        drop(full);

        let undone = write.begin().await.unwrap();
        undone.execute_unprepared("INSERT INTO t VALUES ('undone')").await.unwrap();
        undone.rollback().await.unwrap();
        let kept = write.begin().await.unwrap();
        kept.execute_unprepared("INSERT INTO t VALUES ('kept')").await.unwrap();
        kept.commit().await.unwrap();
        assert_eq!(rows(&read).await, 1, "seen by others");
    }

    // covers: F24
    #[test]
    fn a_log_of_statements_is_refused_with_the_setting_that_helps() {
        let settings = |format: &str, log: &str| {
            [("binlog_format", format), ("log_bin", log)].map(|(n, v)| (n.to_owned(), v.to_owned()))
        };
        let refused = refuse_statement_format(&settings("STATEMENT", "ON")).unwrap_err();
        assert!(refused.to_string().contains("set binlog_format=ROW"));
        for fine in [settings("ROW", "ON"), settings("MIXED", "ON"), settings("STATEMENT", "OFF")] {
            refuse_statement_format(&fine).unwrap();
        }
    }
}
