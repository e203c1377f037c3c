//! Opening the database, with what each needs to be safe and quick.

use std::fs::File;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sea_orm::sqlx::{self, Connection as _, Executor};
use sea_orm::{ConnectOptions, DatabaseConnection};

use super::{Error, Result};

/// Where the data is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// A file of this machine, used by one process at a time.
    Sqlite { path: PathBuf },
    /// `postgres://…` or `mysql://…`; several nodes may share it.
    Server { url: String },
}

type Opened = (DatabaseConnection, DatabaseConnection, Option<File>);

pub async fn open(database: &Database) -> Result<Opened> {
    match database {
        Database::Sqlite { path } => open_file(path).await,
        Database::Server { url } => {
            let write = sea_orm::Database::connect(server_options(url, 8)).await?;
            let read = sea_orm::Database::connect(server_options(url, 4)).await?;
            Ok((write, read, None))
        }
    }
}

/// A connection that writes nothing on SQLite; elsewhere it is up to who uses it.
pub async fn open_to_look(database: &Database) -> Result<DatabaseConnection> {
    let options = match database {
        Database::Sqlite { path } => file_options(path, 1, true),
        Database::Server { url } => server_options(url, 2),
    };
    Ok(sea_orm::Database::connect(options).await?)
}

async fn open_file(path: &Path) -> Result<Opened> {
    let lock = lock_file(path)?;
    let write = sea_orm::Database::connect(file_options(path, 1, false)).await?;
    let read = sea_orm::Database::connect(file_options(path, 3, true)).await?;
    Ok((write, read, Some(lock)))
}

/// One process a file: a second one would keep a ring of its own over the same runs.
fn lock_file(path: &Path) -> Result<File> {
    let lock_path = path.with_extension("lock");
    let settings = |text: String| Error::Settings(text);
    if let Some(folder) = path.parent() {
        private_folder(folder).map_err(|e| {
            settings(format!(
                "cannot make the data folder {}: {e}",
                folder.display()
            ))
        })?;
    }
    let file = File::create(&lock_path)
        .map_err(|e| settings(format!("cannot open {}: {e}", lock_path.display())))?;
    file.try_lock().map_err(|_| {
        settings(format!(
            "{} is used by another Carillon process; stop that one, or give this one another --data-dir",
            path.display()
        ))
    })?;
    Ok(file)
}

/// Jobs and hashes of passwords are the owner's business. A folder that is there keeps its mode.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn file_options(path: &Path, connections: u32, read_only: bool) -> ConnectOptions {
    let mut options = ConnectOptions::new(format!("sqlite://{}?mode=rwc", path.display()));
    let path = path.to_owned();
    options
        .max_connections(connections)
        .min_connections(1)
        .test_before_acquire(false)
        .max_lifetime(None)
        .idle_timeout(None)
        .sqlx_logging(false)
        .map_sqlx_sqlite_opts(move |sqlite| {
            // `query_only` instead of opening read-only: the first reader of a WAL file may have to write its index.
            sqlite
                .filename(&path)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .busy_timeout(Duration::from_secs(5))
                .foreign_keys(true)
                .pragma("cache_size", "-65536")
                .pragma("wal_autocheckpoint", "1000")
                .pragma("query_only", if read_only { "ON" } else { "OFF" })
        })
        .map_sqlx_sqlite_pool_opts(|pool| {
            pool.after_release(|connection, _| Box::pin(has_ended_its_transaction(connection)))
        });
    options
}

/// A full disk makes SQLite end a transaction by itself; sqlx then counts one that is not there, and from the next ordinary
/// rollback on nothing is committed any more, although every COMMIT succeeds. Such a connection is closed, and another opened.
async fn has_ended_its_transaction(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    // Comes after whatever is still under way on it, a rollback above all.
    connection.ping().await?;
    let counted = connection.is_in_transaction();
    if counted {
        tracing::warn!(
            "a transaction ended by itself, as on a full disk; the connection is replaced"
        );
    }
    Ok(!counted)
}

fn server_options(url: &str, connections: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(url.to_owned());
    options
        .max_connections(connections)
        .min_connections(1)
        .acquire_timeout(Duration::from_secs(5))
        .max_lifetime(Some(Duration::from_secs(1800)))
        .test_before_acquire(false)
        .test_before_acquire_if_idle_for(Duration::from_secs(30))
        .sqlx_logging(false)
        // The pool's own hook runs for each connection, sea-orm's only once. What the statements are proved under is not
        // left to the server's settings: MySQL's default is REPEATABLE READ. And a lock that somebody holds on (a backup, a
        // forgotten session) ends a statement well within the lease: one shard's rows must not use up the connections.
        .map_sqlx_mysql_pool_opts(|pool| {
            pool.after_connect(|connection, _| {
                Box::pin(async move {
                    connection
                        .execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
                        .await?;
                    connection
                        .execute("SET SESSION innodb_lock_wait_timeout = 3")
                        .await?;
                    Ok(())
                })
            })
        })
        .map_sqlx_postgres_pool_opts(|pool| {
            pool.after_connect(|connection, _| {
                Box::pin(async move {
                    connection
                        .execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED")
                        .await?;
                    connection.execute("SET lock_timeout = '3s'").await?;
                    Ok(())
                })
            })
        });
    options
}

#[cfg(test)]
mod tests {
    use sea_orm::{ConnectionTrait as _, Statement, TransactionTrait as _};

    use super::*;

    async fn rows(db: &DatabaseConnection) -> i64 {
        let count = Statement::from_string(db.get_database_backend(), "SELECT COUNT(*) FROM t");
        let row = db.query_one_raw(count).await.unwrap().unwrap();
        row.try_get_by_index(0).unwrap()
    }

    #[tokio::test]
    async fn h08_after_a_full_disk_what_was_committed_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (write, read, _lock) = open_file(&folder.path().join("full.db")).await.unwrap();
        write
            .execute_unprepared("CREATE TABLE t (a TEXT)")
            .await
            .unwrap();
        // A limit below the size of now is taken as the size of now.
        write
            .execute_unprepared("PRAGMA max_page_count = 1")
            .await
            .unwrap();
        let full = write.begin().await.unwrap();
        let large = "INSERT INTO t VALUES (hex(zeroblob(100000)))";
        let error = full.execute_unprepared(large).await.unwrap_err();
        assert!(error.to_string().contains("full"), "{error}");
        drop(full);

        let undone = write.begin().await.unwrap();
        undone
            .execute_unprepared("INSERT INTO t VALUES ('undone')")
            .await
            .unwrap();
        undone.rollback().await.unwrap();
        let kept = write.begin().await.unwrap();
        kept.execute_unprepared("INSERT INTO t VALUES ('kept')")
            .await
            .unwrap();
        kept.commit().await.unwrap();
        assert_eq!(rows(&read).await, 1, "seen by others");
    }
}
