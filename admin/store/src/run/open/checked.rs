//! Runs that stay `running`: found page by page, and read again when they are checked.

use foldhash::HashMap;

use carillon_scheduler::{BlockStrategy, Millis};
use sea_orm::FromQueryResult;

use crate::db::sql::rows::Word;
use crate::error::Result;
use crate::run::open::running::{COLUMNS, NEIGHBOURS, Row, RunningRun};
use crate::views::RunStore;

/// How far a walk through the running runs of a shard has come, in the order of their index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCursor {
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
    /// Whether the run was sent to an executor of our SDK.
    pub is_own: bool,
}

/// A run that is still `running`, with what a check needs.
#[derive(Clone, Debug)]
pub struct ToCheck {
    pub run: RunningRun,
    /// The block strategy of its job, and since when the job has it; None: the job is gone.
    pub block: Option<(BlockStrategy, Millis)>,
}

/// Rows of one page.
const PAGE: usize = 500;

/// All conditions but the place are in the key; MariaDB does not take a row of columns for a range, and reads the entries of
/// the shard before the place too.
pub(crate) const LONG_RUNNING: &str = "SELECT id, job_id, epoch, due_at, COALESCE(sent_at, marked_at, due_at) AS sent_at, address, \
     boot_id FROM run{index run_open} WHERE shard = ? AND state = {state.running} AND state < {state.final} \
     AND (epoch, due_at, id) > (?, ?, ?) AND (follow & {follow.held}) = 0 ORDER BY epoch, due_at, id LIMIT 500";

impl RunStore<'_> {
    /// One page of the running runs of a shard behind a place, and the place of the next page; behind the last page the
    /// walk starts again.
    pub async fn long_running(self, shard: i32, behind: PageCursor) -> Result<(Vec<LongRunning>, PageCursor)> {
        let values = values![shard, behind.epoch, behind.due_at, behind.run_id];
        let rows = self.tuples(&self.engine_reads, LONG_RUNNING, values).await?;
        let (mut found, mut last) = (vec![], None);
        for (run_id, job_id, epoch, due_at, sent_at, address, boot_id) in rows {
            let is_own = Option::<String>::is_some(&boot_id);
            found.push(LongRunning { run_id, job_id, sent_at, address, is_own });
            last = Some(PageCursor { epoch, due_at, run_id });
        }
        let next = last.filter(|_| found.len() == PAGE).unwrap_or_default();
        Ok((found, next))
    }

    /// The runs among these that are `running`, by id.
    pub async fn runs_to_check(self, run_ids: &[i64]) -> Result<HashMap<i64, ToCheck>> {
        let rows: Vec<Checked> = self.all(&self.engine_reads, &to_check(), values![self.ids(run_ids)]).await?;
        let checked = |row: Checked| {
            let run = RunningRun::from(row.run);
            (run.run_id, ToCheck { run, block: row.block.map(|word| word.0).zip(row.updated_at) })
        };
        Ok(rows.into_iter().map(checked).collect())
    }
}

pub(crate) fn to_check() -> String {
    // 0: it is as it was created.
    format!(
        "SELECT {COLUMNS}, job.block, CASE WHEN job.updated_at > job.created_at THEN job.updated_at ELSE 0 END AS updated_at \
         FROM run {NEIGHBOURS} WHERE run.id IN ({{ids}}) AND {{+run.state}} = {{state.running}}"
    )
}

#[derive(FromQueryResult)]
struct Checked {
    #[sea_orm(nested)]
    run: Row,
    block: Option<Word<BlockStrategy>>,
    updated_at: Option<Millis>,
}
