//! Fires of several parts, and workflows. The parts of each are fixed, and a workflow begins, by a transaction of its own, which waits for
//! the row of its job. It runs beside the dispatcher: a lock on one job delays neither the marks of later runs nor other expansions.

use std::sync::Arc;

use foldhash::HashSet;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::complete::followed_runs::FollowedRuns;
use crate::context::Context;
use crate::dispatch::stages::AdmittedRun;
use crate::executor::request::filled_params;
use crate::job_cache::CachedJob;
use crate::lease::held_shards::HeldShards;
use crate::plan::due_queue::DueQueue;
use crate::plan::wakes::ScanWakes;
use carillon_store as store;
use carillon_store::job::job_row::Params;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::expand::Expansion;

/// Each takes a connection of the engine, perhaps for as long as a statement may last; the marks need the others.
pub(crate) const MAX_EXPANSIONS: usize = 4;

/// What becomes of a run in place of a mark.
pub enum ExpansionTask {
    /// It becomes the parts of its fire.
    Split(Expansion),
    /// Its graph begins.
    Begin,
}

pub struct Expander {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) queue: Arc<DueQueue>,
    pub(crate) wakes: Arc<ScanWakes>,
    pub(crate) followed: Arc<FollowedRuns>,
    pub(crate) tasks: TaskTracker,
    pub(crate) places: Semaphore,
    /// Runs that are being expanded or wait for a place.
    pub(crate) open: Mutex<HashSet<i64>>,
}

struct ExpansionGuard {
    expander: Arc<Expander>,
    run_id: i64,
}

impl Drop for ExpansionGuard {
    fn drop(&mut self) {
        self.expander.open.lock().remove(&self.run_id);
    }
}

impl Expander {
    pub fn is_empty(&self) -> bool {
        self.open.lock().is_empty()
    }

    /// Until it is done the run is not in the queue. A scan that reads the table again may put it there: that entry is
    /// dropped, since the expansion under way puts the parts there, or the run itself.
    pub fn spawn(self: &Arc<Self>, admitted: AdmittedRun, task: ExpansionTask) {
        let run_id = admitted.run.run_id;
        if !self.open.lock().insert(run_id) {
            return;
        }
        let guard = ExpansionGuard { expander: self.clone(), run_id };
        self.tasks.spawn(async move { guard.expander.clone().expand(guard, admitted, task).await });
    }

    /// Parts go the ordinary way from here; a workflow goes on from its nodes.
    async fn expand(&self, guard: ExpansionGuard, admitted: AdmittedRun, task: ExpansionTask) {
        let AdmittedRun { run, job, admission, .. } = admitted;
        // The semaphore is never closed.
        let place = self.places.acquire().await.ok();
        if !self.held.may_mark(run.shard, run.epoch) {
            // The shard was lost meanwhile: the row is there for its next holder, perhaps this node.
            drop(guard);
            return self.wakes.read_again(run.shard);
        }
        let expanded = match &task {
            ExpansionTask::Split(expansion) => {
                self.cx.store.runs().expand(&run, expansion, &self.cx.node).await.map(Expanded::Parts)
            }
            ExpansionTask::Begin => self.begin(&run, &job).await,
        };
        drop(place);
        match expanded {
            // It is expanded already, by a commit whose answer was lost: its parts are in the table. Or it is not to be split any more.
            Ok(Expanded::Parts(parts)) if parts.is_empty() => self.wakes.read_again(run.shard),
            Ok(Expanded::Begun) => self.followed.add(&[run.run_id]),
            Ok(Expanded::Parts(parts)) => {
                for part in parts {
                    let due_at = part.due_at;
                    self.queue.insert(part, due_at);
                }
            }
            Err(error) => {
                tracing::warn!(%error, run.id = run.run_id, "a run could not be split into its parts, or a workflow not begin, yet");
                // First, or the next tick would drop it as one that is being expanded.
                drop(guard);
                self.queue.insert(run, self.cx.clock.now() + self.cx.settings.retry_ms());
            }
        }
        // Its parts are in the queue, and each is admitted by itself; or its row says that it runs.
        drop(admission);
    }

    async fn begin(&self, run: &ClaimedRun, job: &CachedJob) -> store::Result<Expanded> {
        let jobs = self.cx.store.jobs();
        let given = jobs.given_params(&[run.run_id]).await?.pop().map(|(_, params)| params);
        let own = match (&given, &job.stored.params) {
            (None, Params::Apart) => jobs.get(run.job_id).await?.map(|job| job.draft.params).unwrap_or_default(),
            (None, Params::Here(text)) => text.clone(),
            _ => String::new(),
        };
        let params = filled_params(run, job, given, || own);
        Ok(match self.cx.store.workflows().hold(run, &params, self.cx.clock.now()).await? {
            true => Expanded::Begun,
            false => Expanded::Parts(vec![]),
        })
    }
}

enum Expanded {
    Parts(Vec<ClaimedRun>),
    Begun,
}
