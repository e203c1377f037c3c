//! A connection beside the nodes', on no proxy: to find the holder of a shard, to change rows, and to dump at the end.

use std::path::{Path, PathBuf};

use sea_orm::{ConnectOptions, ConnectionTrait as _, DatabaseConnection, QueryResult, Statement};

use crate::record::{MisfireRow, RunRow, State};

/// Where the database is, before it can be opened.
pub enum Place {
    Server(String),
    File(PathBuf),
}

impl Place {
    pub fn server(url: String) -> Self {
        Self::Server(url)
    }

    pub fn file(path: PathBuf) -> Self {
        Self::File(path)
    }

    pub async fn open(self, _folder: &Path) -> anyhow::Result<Database> {
        let url = match self {
            Self::Server(url) => url,
            Self::File(path) => format!("sqlite://{}", path.display()),
        };
        let database = Database { url };
        database.connect().await?.close().await?;
        Ok(database)
    }
}

/// A holder of a shard: its listening address.
pub struct Database {
    url: String,
}

impl Database {
    /// A new connection for each question: the server may have been killed since the last.
    pub async fn connect(&self) -> anyhow::Result<DatabaseConnection> {
        let mut options = ConnectOptions::new(&self.url);
        options.max_connections(1).connect_timeout(std::time::Duration::from_secs(3)).sqlx_logging(false);
        Ok(sea_orm::Database::connect(options).await?)
    }

    /// A connection for the caller to keep.
    pub async fn hold(&self) -> anyhow::Result<DatabaseConnection> {
        let connection = self.connect().await?;
        connection.execute_unprepared("SELECT 1").await?;
        Ok(connection)
    }

    pub(super) async fn all(&self, text: &str) -> anyhow::Result<Vec<QueryResult>> {
        let connection = self.connect().await?;
        let backend = connection.get_database_backend();
        let rows = connection.query_all_raw(Statement::from_string(backend, text)).await;
        connection.close().await?;
        Ok(rows?)
    }

    pub async fn execute(&self, text: &str) -> anyhow::Result<()> {
        let connection = self.connect().await?;
        let done = connection.execute_unprepared(text).await;
        connection.close().await?;
        done?;
        Ok(())
    }

    /// `shard → listening address` of those that are held.
    pub async fn holders(&self) -> anyhow::Result<Vec<(i32, String)>> {
        let rows = self
            .all(
                "SELECT shard_lease.shard, node.address FROM shard_lease \
                 JOIN node ON node.id = shard_lease.owner WHERE shard_lease.expires_at > 0 ORDER BY shard_lease.shard",
            )
            .await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
    }

    /// The listening address of the node that holds the shard of a run with a slot of a limit.
    pub async fn holder_of_a_slot(&self) -> anyhow::Result<Option<String>> {
        let text = "SELECT node.address FROM limit_slot JOIN run ON run.id = limit_slot.run_id \
                    JOIN shard_lease ON shard_lease.shard = run.shard JOIN node ON node.id = shard_lease.owner \
                    WHERE shard_lease.expires_at > 0";
        Ok(self.all(text).await?.first().map(|row| row.try_get_by_index(0)).transpose()?)
    }

    pub async fn count(&self, text: &str) -> anyhow::Result<i64> {
        let rows = self.all(text).await?;
        Ok(rows.first().map_or(Ok(0), |row| row.try_get_by_index(0))?)
    }

    /// Runs that wait for something, and those that are still to be recorded.
    pub async fn open_runs(&self) -> anyhow::Result<i64> {
        let runs = self.count("SELECT COUNT(*) FROM run WHERE state < 3").await?;
        Ok(runs + self.count("SELECT COUNT(*) FROM delayed_trigger").await?)
    }

    /// The address of the node that has marked a run.
    pub async fn sender_of(&self, run: i64) -> anyhow::Result<Option<String>> {
        let text = format!("SELECT node.address FROM run JOIN node ON node.id = run.owner WHERE run.id = {run}");
        let rows = self.all(&text).await?;
        Ok(rows.first().map(|row| row.try_get_by_index(0)).transpose()?)
    }

    pub async fn runs(&self) -> anyhow::Result<Vec<RunRow>> {
        let text = "SELECT id, job_id, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, \
                    marked_at, sends, address, sent_at, reason, result_code, finished_at FROM run ORDER BY id";
        self.all(text).await?.iter().map(run_row).collect()
    }

    pub async fn misfires(&self) -> anyhow::Result<Vec<MisfireRow>> {
        let text = "SELECT job_id, from_at, to_at, count, reason FROM misfire ORDER BY job_id, from_at";
        let rows = self.all(text).await?;
        rows.iter()
            .map(|row| {
                Ok(MisfireRow {
                    job_id: row.try_get_by_index(0)?,
                    from_at: row.try_get_by_index(1)?,
                    to_at: row.try_get_by_index(2)?,
                    count: i64::from(row.try_get_by_index::<i32>(3)?),
                    reason: row.try_get_by_index(4)?,
                })
            })
            .collect()
    }
}

fn run_row(row: &QueryResult) -> anyhow::Result<RunRow> {
    let int = |index| row.try_get_by_index::<i32>(index).map(i64::from);
    let small = |index| row.try_get_by_index::<i16>(index).map(i64::from);
    Ok(RunRow {
        id: row.try_get_by_index(0)?,
        job_id: row.try_get_by_index(1)?,
        cause: small(2)?,
        fire_no: row.try_get_by_index(3)?,
        part: int(4)?,
        parts: int(5)?,
        attempt: int(6)?,
        scheduled_at: row.try_get_by_index(7)?,
        due_at: row.try_get_by_index(8)?,
        state: State::of(small(9)?),
        epoch: row.try_get_by_index(10)?,
        owner: row.try_get_by_index(11)?,
        marked_at: row.try_get_by_index(12)?,
        sends: int(13)?,
        address: row.try_get_by_index(14)?,
        sent_at: row.try_get_by_index(15)?,
        reason: row.try_get_by_index(16)?,
        result_code: row.try_get_by_index::<Option<i32>>(17)?.map(i64::from),
        finished_at: row.try_get_by_index(18)?,
    })
}
