//! Ends of runs that others follow. A row is written in the transaction that ends the run, and deleted in the one that does what
//! follows ([`advance`](crate::run::advance)): what follows happens once, whichever node does it, also after a crash between the two.

use carillon_scheduler::{Millis, RunState};
use sea_orm::DbBackend;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{long, short};
use crate::error::Result;
use crate::run::follow::{CHAIN, CHILDREN, ITEM, MAP, NODE};
use crate::run::lock::{LockMode, LockedRun};
use crate::views::RunStore;

/// What follows from an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The next fire of a fixed delay.
    Chain = 1,
    /// The children of its fire.
    Children = 2,
    /// The same, of a success that became known late.
    LateChildren = 3,
    /// The workflow of a node.
    Node = 4,
    /// The same, of a success that became known late.
    LateNode = 5,
    /// The workflow itself: it has begun, or a person has decided something about it.
    Workflow = 6,
    /// The run that has handed in items: their delivery begins, goes on or is to end.
    Map = 7,
}

impl Kind {
    pub const ALL: [Self; 7] =
        [Self::Chain, Self::Children, Self::LateChildren, Self::Node, Self::LateNode, Self::Workflow, Self::Map];

    /// One that a newer version has written is none of ours.
    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i16 == code)
    }
}

/// An end that others follow. A run ends once, and becomes known late once, so run and kind are its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FollowUp {
    pub run_id: i64,
    pub job_id: i64,
    pub kind: Kind,
}

impl FollowUp {
    /// The key of the row.
    pub fn id(&self) -> i64 {
        key(self.run_id, self.kind)
    }
}

pub(crate) fn key(run_id: i64, kind: Kind) -> i64 {
    run_id * 8 + kind as i64
}

/// What follows from a run as it was found, which is in `state` now. `has_ended`: it was on its way before, and is not any more.
pub(crate) fn after(row: &LockedRun, has_ended: bool, state: RunState) -> impl Iterator<Item = FollowUp> + use<> {
    let has = |bit: i16| row.follow & bit != 0;
    let chain = (has(CHAIN) && has_ended).then_some(Kind::Chain);
    // What its end brings about concerns the app that the job had.
    let bears = has(CHILDREN) && state == RunState::Succeeded && !row.is_of_former_app();
    let children = bears.then_some(if has_ended { Kind::Children } else { Kind::LateChildren });
    // Whatever became of its app: the workflow waits for it.
    let node = match has_ended {
        true => Some(Kind::Node),
        false => (state == RunState::Succeeded).then_some(Kind::LateNode),
    };
    let node = node.filter(|_| has(NODE));
    // Its attempts end one after the other, so one key is enough.
    let map = (has(ITEM) && (has_ended || state == RunState::Succeeded)).then_some(Kind::Map);
    let (run_id, job_id) = (row.id, row.job_id);
    chain.into_iter().chain(children).chain(node).chain(map).map(move |kind| FollowUp { run_id, job_id, kind })
}

/// A row that is there already stays.
pub(crate) static INSERT_FOLLOW_UPS: Bulk = Bulk::text(
    &[long("id"), long("run_id"), short("kind"), long("job_id")],
    "INSERT INTO follow_up (id, run_id, kind, job_id, at) SELECT u.id, u.run_id, u.kind, u.job_id, :now FROM {list} \
     WHERE NOT EXISTS (SELECT 1 FROM follow_up AS made WHERE made.id = u.id)",
);

/// Runs of these shards whose ends wait for what follows since before an instant.
pub(crate) fn forgotten(backend: DbBackend) -> String {
    let run = match backend {
        // Of a join PostgreSQL would make a walk through all runs, ended ones too. It joins nothing with a subquery that has an OFFSET.
        DbBackend::Postgres => "CROSS JOIN LATERAL (SELECT shard FROM run WHERE id = f.run_id OFFSET 0) AS run",
        _ => "{join} run ON run.id = f.run_id",
    };
    format!(
        "SELECT DISTINCT f.run_id FROM follow_up AS f {run} WHERE f.at < ? AND run.shard {{among}} ORDER BY f.run_id LIMIT ?"
    )
}

impl RunStore<'_> {
    pub(crate) async fn insert_follow_ups(self, tx: &Transaction, list: &[FollowUp], now: Millis) -> Result<()> {
        if list.is_empty() {
            return Ok(());
        }
        let rows: Vec<_> = list.iter().map(|it| (it.id(), it.run_id, it.kind as i16, it.job_id)).collect();
        self.bulk(tx, &INSERT_FOLLOW_UPS, &named![now], &rows).await.map(drop)
    }

    /// Leaves a note that a run without an executor is to be looked at: a workflow on its way, or one whose items are delivered. Any other
    /// run gets none.
    pub(crate) async fn note_held(self, tx: &Transaction, run_id: i64, now: Millis) -> Result<()> {
        let text = "SELECT job_id, follow FROM run WHERE id = ? AND (follow & {follow.held}) <> 0";
        let Some((job_id, follow)) = self.tuple::<(i64, i16)>(tx, text, values![run_id]).await? else {
            return Ok(());
        };
        let kind = if follow & MAP == 0 { Kind::Workflow } else { Kind::Map };
        self.insert_follow_ups(tx, &[FollowUp { run_id, job_id, kind }], now).await
    }

    /// The same in a transaction of its own.
    pub async fn wake_held(self, run_id: i64, now: Millis) -> Result<()> {
        let tx = self.begin().await?;
        self.lock_runs(&tx, &[run_id], LockMode::Wait).await?;
        self.note_held(&tx, run_id, now).await?;
        Ok(tx.commit().await?)
    }

    /// The chain of a job goes on from elsewhere: no end does it any more. The job's row must be locked.
    pub(crate) async fn forget_chain_ends(self, tx: &Transaction, job_id: i64) -> Result<()> {
        let text = "DELETE FROM follow_up WHERE job_id = ? AND kind = ?";
        self.execute(tx, text, values![job_id, Kind::Chain as i16]).await.map(drop)
    }

    /// Runs of these shards that have ended before an instant, and from whose end nothing has followed yet.
    pub async fn forgotten_ends(self, shards: &[i64], before: Millis, limit: usize) -> Result<Vec<i64>> {
        let values = values![before, self.ids(shards), limit as i64];
        self.tuples(&self.engine_reads, &forgotten(self.backend), values).await
    }
}
