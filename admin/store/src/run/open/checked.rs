//! Runs that stay `running`: found page by page, and read again when they are checked.

use std::collections::HashMap;

use carillon_scheduler::{BlockStrategy, Millis};
use sea_orm::{DbBackend, QueryResult};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::db::row::Columns;
use crate::run::open::running;
use crate::run::open::running::Watched;
use crate::{Error, Result, Store};

/// How far a walk through the running runs of a shard has come, in the order of their index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub epoch: i64,
    pub due_at: Millis,
    pub run_id: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongRunning {
    pub run_id: i64,
    pub job_id: i64,
    pub sent_at: Millis,
    pub address: Option<String>,
    /// It was sent to an executor of our SDK.
    pub is_own: bool,
}

/// A run that is still `running`, with what a check needs.
#[derive(Clone, Debug)]
pub struct ToCheck {
    pub run: Watched,
    /// Runs that were sent from then on end the earlier ones of their job at the same executor.
    pub covers_since: Option<Millis>,
}

/// Rows of one page.
const PAGE: usize = 500;

/// All conditions but the place are in the key; MariaDB does not take a row of columns for a range, and reads the entries of
/// the shard before the place too.
pub(crate) const LONG_RUNNING: Text = Text {
    sqlite: "SELECT id, job_id, epoch, due_at, COALESCE(sent_at, marked_at, due_at), address, boot_id FROM run \
             WHERE shard = ? AND state = 2 AND state < 9 AND (epoch, due_at, id) > (?, ?, ?) ORDER BY epoch, due_at, id LIMIT 500",
    postgres: "SELECT id, job_id, epoch, due_at, COALESCE(sent_at, marked_at, due_at), address, boot_id FROM run \
               WHERE shard = ? AND state = 2 AND state < 9 AND (epoch, due_at, id) > (?, ?, ?) ORDER BY epoch, due_at, id LIMIT 500",
    mysql: "SELECT id, job_id, epoch, due_at, COALESCE(sent_at, marked_at, due_at), address, boot_id FROM run FORCE INDEX (run_open) \
            WHERE shard = ? AND state = 2 AND state < 9 AND (epoch, due_at, id) > (?, ?, ?) ORDER BY epoch, due_at, id LIMIT 500",
};

impl Store {
    /// One page of the running runs of a shard behind a place, and the place of the next page; behind the last page the
    /// walk begins anew.
    pub async fn long_running(&self, shard: i32, behind: Place) -> Result<(Vec<LongRunning>, Place)> {
        let values = vec![shard.into(), behind.epoch.into(), behind.due_at.into(), behind.run_id.into()];
        let text = LONG_RUNNING.of(self.backend);
        let rows = self.all(self.hot_reads(), text, values).await?;
        let found: Vec<(LongRunning, Place)> = rows.iter().map(read).collect::<Result<_>>()?;
        let last = found.last().map(|(_, place)| *place);
        let next = last.filter(|_| found.len() == PAGE).unwrap_or_default();
        Ok((found.into_iter().map(|(run, _)| run).collect(), next))
    }

    /// Those of these runs that are `running`, by id.
    pub async fn to_check(&self, run_ids: &[i64]) -> Result<HashMap<i64, ToCheck>> {
        let (_, value) = dialect::id_list(self.backend, run_ids);
        let text = to_check(self.backend);
        let rows = self.all(self.hot_reads(), &text, vec![value]).await?;
        rows.iter().map(|row| read_to_check(row).map(|it| (it.run.run_id, it))).collect()
    }
}

pub(crate) fn to_check(backend: DbBackend) -> String {
    let (list, _) = dialect::id_list(backend, &[]);
    let (columns, neighbours) = (running::COLUMNS, running::NEIGHBOURS);
    format!(
        "SELECT {columns}, job.block, CASE WHEN job.updated_at > job.created_at THEN job.updated_at ELSE 0 END FROM run {neighbours} WHERE run.id IN ({list}) AND run.state + 0 = 2"
    )
}

fn read(row: &QueryResult) -> Result<(LongRunning, Place)> {
    let mut columns = Columns::of(row);
    let (run_id, job_id) = (columns.next()?, columns.next()?);
    let (epoch, due_at) = (columns.next()?, columns.next()?);
    let run = LongRunning {
        run_id,
        job_id,
        sent_at: columns.next()?,
        address: columns.next()?,
        is_own: columns.next::<Option<String>>()?.is_some(),
    };
    let place = Place { epoch, due_at, run_id };
    Ok((run, place))
}

fn read_to_check(row: &QueryResult) -> Result<ToCheck> {
    let mut columns = Columns::of(row);
    let run = running::read(&mut columns)?;
    // The job may be gone.
    let block: Option<String> = columns.next()?;
    // 0: it is as it was created.
    let updated_at: Option<Millis> = columns.next()?;
    let block = block.map(|word| word.parse::<BlockStrategy>()).transpose();
    let block = block.map_err(|error| Error::Corrupt(error.to_string()))?;
    let covers = block == Some(BlockStrategy::CoverEarly);
    Ok(ToCheck { run, covers_since: updated_at.filter(|_| covers) })
}
