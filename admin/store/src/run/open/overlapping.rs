//! What a job's fires have to know of each other.

use carillon_scheduler::{Cause, Millis, RunReason, RunState};
use foldhash::HashSet;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::IDS;
use crate::db::sql::retry;
use crate::db::sql::rows::{Code, IsOverlap, IsSet};
use crate::error::Result;
use crate::run::lock::LockMode;
use crate::views::RunStore;

row_struct! {
    /// An open run of a job.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OpenRun {
        pub run_id: i64,
        pub job_id: i64,
        pub cause: Cause as Code,
        pub fire_no: i64,
        pub state: RunState as Code,
        pub due_at: Millis,
        pub kill_asked: bool as IsSet,
        /// Its row says that it waits for an earlier fire.
        pub waits: bool as IsOverlap,
    }
}

/// What is to be written of runs that are still `claimed`, of any number of jobs.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    pub cancel: Vec<i64>,
    /// They wait for an earlier fire.
    pub wait: Vec<i64>,
    /// They have waited, and go now.
    pub resume: Vec<i64>,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub cancelled: u64,
    /// Another session holds their rows: nothing has changed there yet.
    pub held_up: HashSet<i64>,
}

/// The reason why a run waits, or that it does not any more.
pub(crate) static NOTE_OVERLAP: Bulk =
    Bulk::update_runs(IDS, &[("reason", ":reason")], "{+run.state} = {state.claimed}");

impl RunStore<'_> {
    /// The runs of these jobs of a shard that are `claimed`, `sending` or `running`. Deliveries of items are not among them: the run
    /// that they are of is open for as long as they are.
    pub async fn open_runs_of(self, shard: i32, job_ids: &[i64]) -> Result<Vec<OpenRun>> {
        let text = "SELECT id AS run_id, job_id, cause, fire_no, state, due_at, kill_asked_at AS kill_asked, reason AS waits FROM run \
                    WHERE shard = ? AND state IN ({state.pending}) AND state < {state.final} AND job_id IN ({ids}) \
                    AND cause <> {cause.item}";
        self.all(&self.engine_reads, text, values![shard, self.ids(job_ids)]).await
    }

    /// As many statements for a thousand jobs as for one. A row that another session holds is left out: it delays neither
    /// the other jobs nor the tick.
    pub async fn write_overlaps(self, verdicts: &Verdicts, now: Millis) -> Result<Written> {
        if verdicts.is_empty() {
            return Ok(Written::default());
        }
        let (written, followed) = retry::on_conflict(|| self.try_write_overlaps(verdicts, now)).await?;
        self.try_to_advance(&followed, now).await;
        Ok(written)
    }

    /// Answers too the runs whose ends others follow.
    async fn try_write_overlaps(self, verdicts: &Verdicts, now: Millis) -> Result<(Written, Vec<i64>)> {
        let tx = self.begin().await?;
        let locked = self.lock_runs(&tx, &verdicts.all(), LockMode::SkipLocked).await?;
        let free = |ids: &[i64]| -> Vec<i64> {
            let free = ids.iter().filter(|id| !locked.held_up.contains(id));
            free.copied().collect()
        };
        let cancel = free(&verdicts.cancel);
        let cancelled = self.cancel_in(&tx, &cancel, RunReason::Overlap, now).await?;
        let ended = cancel.iter().filter_map(|id| locked.by_id.get(id));
        let followed = self.follow_cancelled(&tx, ended, now).await?;
        self.note_overlap(&tx, &free(&verdicts.wait), true).await?;
        self.note_overlap(&tx, &free(&verdicts.resume), false).await?;
        tx.commit().await?;
        Ok((Written { cancelled, held_up: locked.held_up }, followed))
    }

    /// Says in the rows of runs that are still `claimed` that they wait for an earlier fire, or no longer.
    async fn note_overlap(self, tx: &Transaction, run_ids: &[i64], waits: bool) -> Result<()> {
        if !run_ids.is_empty() {
            let reason = waits.then_some(RunReason::Overlap.as_str());
            self.bulk(tx, &NOTE_OVERLAP, &named![reason], run_ids).await?;
        }
        Ok(())
    }
}

impl Verdicts {
    fn all(&self) -> Vec<i64> {
        [&self.cancel[..], &self.wait, &self.resume].concat()
    }

    fn is_empty(&self) -> bool {
        self.all().is_empty()
    }
}
