//! Origins: which job of another scheduler became which job here. An origin is stored before its job, so that an import that ends in
//! the middle goes on with the same numbers.

use carillon_scheduler::job::limits::JOB_IDS;
use sea_orm::FromQueryResult;

use crate::db::ids;
use crate::db::ids::Kind;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::Result;
use crate::views::ImportStore;

/// Where a job came from.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct Origin {
    /// The job's number there.
    pub source_id: i64,
    /// The job here, which need not be stored yet.
    pub job_id: i64,
    /// A digest of its row there when it was imported last, and of how it was read.
    pub digest: String,
    /// A digest of the job as it was stored then; None: it is not stored yet.
    pub stored_digest: Option<String>,
}

/// A job that is to be imported.
#[derive(Clone, Debug)]
pub struct NewOrigin {
    pub source_id: i64,
    pub digest: String,
}

/// Numbers that are left for new jobs above the greatest that is kept.
const ROOM: i64 = 100_000_000;

/// Whether a job can have the number that it has there. `next`: the next one here.
pub fn is_kept_id(source_id: i64, next: i64) -> bool {
    source_id >= next && source_id <= JOB_IDS.end() - ROOM
}

/// A job that was imported, as it is stored now.
#[derive(Clone, Debug)]
pub struct StoredOrigin {
    pub job_id: i64,
    pub digest: String,
    pub stored_digest: String,
}

impl ImportStore<'_> {
    /// What was imported from a source, by the numbers there.
    pub async fn origins(self, source: &str) -> Result<Vec<Origin>> {
        let text =
            "SELECT source_id, job_id, digest, stored_digest FROM import_origin WHERE source = ? ORDER BY source_id";
        self.all(&self.read, text, values![source]).await
    }

    /// Stores origins of jobs that are not imported yet, each with a number for its job: the one that it has there, if no job here can
    /// have it, or a free one.
    pub async fn reserve_job_ids(self, source: &str, new: &[NewOrigin]) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        retry::on_race(|| self.try_reserve_job_ids(source, new)).await
    }

    async fn try_reserve_job_ids(self, source: &str, new: &[NewOrigin]) -> Result<()> {
        let tx = self.begin_change().await?;
        let next = self.next_id_in(&tx, &ids::JOB).await?;
        let is_kept = |origin: &&NewOrigin| is_kept_id(origin.source_id, next);
        let mut free = new.iter().filter(is_kept).map(|origin| origin.source_id + 1).fold(next, i64::max);
        let mut rows = vec![];
        for origin in new {
            let job_id = if is_kept(&origin) { origin.source_id } else { free };
            free = free.max(job_id + 1);
            rows.push(values![source, origin.source_id, job_id, origin.digest.as_str()]);
        }
        self.set_next_id_in(&tx, &ids::JOB, free).await?;
        let columns = "source, source_id, job_id, digest";
        self.insert_rows(&tx, "import_origin", columns, rows).await?;
        Ok(tx.commit().await?)
    }

    /// Notes that a job is stored as it was imported.
    pub async fn note_imported(self, source: &str, stored: &[StoredOrigin]) -> Result<()> {
        let tx = self.begin_change().await?;
        let text = "UPDATE import_origin SET digest = ?, stored_digest = ? WHERE source = ? AND job_id = ?";
        for StoredOrigin { job_id, digest, stored_digest } in stored {
            let values = values![digest.as_str(), stored_digest.as_str(), source, *job_id];
            self.execute(&tx, text, values).await?;
        }
        Ok(tx.commit().await?)
    }

    /// A job that is imported keeps its number if that is at least this one.
    pub async fn next_job_id(self) -> Result<i64> {
        let text = "SELECT next FROM id_block WHERE name = ?";
        Ok(self.tuple(&self.read, text, values![ids::JOB.name]).await?.unwrap_or(1))
    }

    /// Lets the ids of runs go on above this one: executors may still hold results of other runs. Answers the next id.
    pub async fn raise_run_ids(self, above: i64) -> Result<i64> {
        retry::on_race(|| async {
            let tx = self.begin_change().await?;
            let next = self.next_id_in(&tx, &ids::RUN).await?.max(above + 1);
            self.set_next_id_in(&tx, &ids::RUN, next).await?;
            tx.commit().await?;
            Ok(next)
        })
        .await
    }

    async fn next_id_in(self, tx: &Transaction, kind: &Kind) -> Result<i64> {
        let text = "SELECT next FROM id_block WHERE name = ?{for_update}";
        Ok(self.tuple(tx, text, values![kind.name]).await?.unwrap_or(kind.first))
    }

    async fn set_next_id_in(self, tx: &Transaction, kind: &Kind, next: i64) -> Result<()> {
        let text = "UPDATE id_block SET next = ? WHERE name = ?";
        if self.execute(tx, text, values![next, kind.name]).await? == 0 {
            self.insert_rows(tx, "id_block", "name, next", vec![values![kind.name, next]]).await?;
        }
        Ok(())
    }
}
