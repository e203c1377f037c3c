//! Fires of several parts. The parts of each are fixed by a transaction of its own, which waits for the row of its job. It runs
//! beside the dispatcher: a lock on one job delays neither the marks of later runs nor other expansions.

use std::sync::Arc;

use foldhash::HashSet;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::context::Context;
use crate::dispatch::stages::AdmittedRun;
use crate::lease::held_shards::HeldShards;
use crate::plan::due_queue::DueQueue;
use crate::plan::wakes::ScanWakes;
use carillon_store::run::expand::Expansion;

/// Each takes a connection of the engine, perhaps for as long as a statement may last; the marks need the others.
pub(crate) const MAX_EXPANSIONS: usize = 4;

pub struct Expander {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) queue: Arc<DueQueue>,
    pub(crate) wakes: Arc<ScanWakes>,
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
    pub fn spawn(self: &Arc<Self>, admitted: AdmittedRun, expansion: Expansion) {
        let run_id = admitted.run.run_id;
        if !self.open.lock().insert(run_id) {
            return;
        }
        let guard = ExpansionGuard { expander: self.clone(), run_id };
        self.tasks.spawn(async move { guard.expander.clone().expand(guard, admitted, expansion).await });
    }

    /// Its parts are fixed, and each goes the ordinary way from there.
    async fn expand(&self, guard: ExpansionGuard, admitted: AdmittedRun, expansion: Expansion) {
        let AdmittedRun { run, admission, .. } = admitted;
        // The semaphore is never closed.
        let place = self.places.acquire().await.ok();
        if !self.held.may_mark(run.shard, run.epoch) {
            // The shard was lost meanwhile: the row is there for its next holder, perhaps this node.
            drop(guard);
            return self.wakes.read_again(run.shard);
        }
        let expanded = self.cx.store.runs().expand(&run, &expansion, &self.cx.node).await;
        drop(place);
        match expanded {
            // It is expanded already, by a commit whose answer was lost: its parts are in the table. Or it is not to be split any more.
            Ok(parts) if parts.is_empty() => self.wakes.read_again(run.shard),
            Ok(parts) => {
                for part in parts {
                    let due_at = part.due_at;
                    self.queue.insert(part, due_at);
                }
            }
            Err(error) => {
                tracing::warn!(%error, run.id = run.run_id, "a run could not be split into its parts yet");
                // First, or the next tick would drop it as one that is being expanded.
                drop(guard);
                self.queue.insert(run, self.cx.clock.now() + self.cx.settings.retry_ms());
            }
        }
        // Its parts are in the queue: from here on each is admitted by itself.
        drop(admission);
    }
}
