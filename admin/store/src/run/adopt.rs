//! What a holder finds when it looks at its shard: orphans of others to adopt, and runs that wait.

use carillon_scheduler::{Cause, Millis};

use crate::db::sql::bulk::Bulk;
use crate::db::sql::execute::read;
use crate::db::sql::list::IDS;
use crate::db::sql::retry;
use crate::db::sql::rows::{Code, IsPatient};
use crate::error::Result;
use crate::run::claim::HeldLease;
use crate::views::RunStore;

row_struct! {
    /// A run that is recorded and not sent: all that routing needs to know.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ClaimedRun {
        pub run_id: i64,
        pub job_id: i64,
        pub shard: i32,
        pub epoch: i64,
        pub cause: Cause as Code,
        pub fire_no: i64,
        pub part: i32,
        pub parts: i32,
        pub attempt: i32,
        pub scheduled_at: Millis,
        pub due_at: Millis,
        /// The only executor that may get it: a part of a broadcast, or an address that was given by hand.
        pub bound_to: Option<String>,
        /// How many parts were asked for with its fire; None: as its job says.
        pub asked_parts: Option<i32>,
        /// Later than this it does not begin any more. None: it begins however late it is.
        pub expires_at: Option<Millis>,
        /// The trace context of the request that asked for it.
        pub traceparent: Option<String>,
        /// In place of the priority of its job, in seconds.
        pub priority: Option<i32>,
        /// An earlier fire of its job was open when it was due, or no slot of a limit was free: it may be as late as it likes.
        pub is_patient: bool as IsPatient,
    }
}

impl ClaimedRun {
    /// It may not begin any more.
    pub fn is_expired(&self, now: Millis) -> bool {
        self.expires_at.is_some_and(|at| at < now)
    }
}

/// Read without locks: on MariaDB an UPDATE by this condition would also wait for the row behind the last orphan, which is the
/// next one to be marked.
pub(crate) const ORPHANS: &str = "SELECT id FROM run{index run_open} WHERE shard = ? AND state = {state.claimed} AND state < {state.final} \
     AND epoch < {?} AND due_at <= ? LIMIT ?";

pub(crate) static ADOPT: Bulk = Bulk::update_runs(
    IDS,
    &[("epoch", ":epoch"), ("owner", ":node")],
    "{+run.shard} = :shard AND {+run.state} = {state.claimed} AND {+run.epoch} < :epoch",
);

/// The new ones among them, due since some moment: the rows of runs that were sent long ago are not walked over, which
/// PostgreSQL cannot forget while an old snapshot is open.
pub(crate) const NEW_ORPHANS: &str = "SELECT id FROM run{index run_open} WHERE shard = ? AND state = {state.claimed} AND state < {state.final} \
     AND epoch = 0 AND due_at >= {?} AND due_at <= {?} LIMIT ?";

/// Rows at a time.
const PAGE: usize = 1_000;

pub(crate) const WAITING: &str = "SELECT id FROM run WHERE shard = ? AND state = {state.claimed} AND state < {state.final} AND epoch = ? AND due_at <= {?} \
     ORDER BY due_at, id LIMIT ?";

const COLUMNS: &str = "run.id AS run_id, run.job_id, run.shard, run.epoch, run.cause, run.fire_no, run.part, run.parts, run.attempt, \
     run.scheduled_at, run.due_at, COALESCE(run.address, run_input.address) AS bound_to, run_input.parts AS asked_parts, run_input.expires_at, \
     run_input.traceparent, run_input.priority, run.reason AS is_patient \
     FROM run LEFT JOIN run_input ON run_input.run_id = run.id";

/// What waits of a shard, and what of it cannot be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Earliest first.
    pub runs: Vec<ClaimedRun>,
    /// Runs whose rows hold something that this version does not know, with what it is.
    pub unreadable: Vec<(i64, String)>,
}

impl RunStore<'_> {
    /// Takes over what waits under a lower epoch, at most `most`: rows of an earlier holder, and new ones that have none yet.
    /// With `from` only new ones that are due since then are looked for. Answers which were found.
    pub async fn adopt(
        self,
        holder: &HeldLease<'_>,
        from: Option<Millis>,
        until: Millis,
        most: usize,
    ) -> Result<Vec<i64>> {
        let mut adopted = vec![];
        while adopted.len() < most {
            let page = PAGE.min(most - adopted.len());
            let orphans = self.orphans(holder, from, until, page).await?;
            if !orphans.is_empty() {
                self.adopt_these(holder, &orphans).await?;
            }
            let found = orphans.len();
            adopted.extend(orphans);
            if found < page {
                break;
            }
        }
        Ok(adopted)
    }

    async fn orphans(
        self,
        holder: &HeldLease<'_>,
        from: Option<Millis>,
        until: Millis,
        page: usize,
    ) -> Result<Vec<i64>> {
        let (text, second) = match from {
            Some(from) => (NEW_ORPHANS, from),
            None => (ORPHANS, holder.epoch),
        };
        let values = values![holder.shard, second, until, page as i64];
        let mut ids = self.integers::<1>(&self.engine_reads, text, values).await?.into_flattened();
        // Locked in the order in which a mark locks them.
        ids.sort_unstable();
        Ok(ids)
    }

    async fn adopt_these(self, holder: &HeldLease<'_>, ids: &[i64]) -> Result<u64> {
        let values = named![epoch: holder.epoch, node: holder.node, shard: holder.shard];
        retry::on_conflict(|| self.bulk(&self.write, &ADOPT, &values, ids)).await
    }

    /// What waits under this epoch and is due until then, earliest first.
    pub async fn waiting(self, shard: i32, epoch: i64, until: Millis, limit: usize) -> Result<Vec<ClaimedRun>> {
        let ids = self.waiting_ids(shard, epoch, until, limit).await?;
        Ok(self.waiting_with_ids(shard, epoch, &ids).await?.runs)
    }

    /// The ids of the same, in no order.
    pub async fn waiting_ids(self, shard: i32, epoch: i64, until: Millis, limit: usize) -> Result<Vec<i64>> {
        let values = values![shard, epoch, until, limit as i64];
        Ok(self.integers::<1>(&self.engine_reads, WAITING, values).await?.into_flattened())
    }

    /// The runs among these that wait under this epoch.
    pub async fn waiting_with_ids(self, shard: i32, epoch: i64, ids: &[i64]) -> Result<Found> {
        let mut found = Found::default();
        for page in ids.chunks(PAGE) {
            let text = format!(
                "SELECT {COLUMNS} WHERE run.id IN ({{ids}}) AND {{+run.shard}} = ? AND {{+run.state}} = {{state.claimed}} AND {{+run.epoch}} = ?"
            );
            for row in self.query(&self.engine_reads, &text, values![self.ids(page), shard, epoch]).await? {
                match read(&row) {
                    Ok(run) => found.runs.push(run),
                    Err(error) => found.unreadable.push((row.try_get_by_index(0)?, error.to_string())),
                }
            }
        }
        found.runs.sort_unstable_by_key(|run| (run.due_at, run.run_id));
        Ok(found)
    }
}
