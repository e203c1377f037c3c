//! Broadcasts. Their executors are fixed by a transaction of its own for each, which waits for the row of its job. It runs
//! beside the tick: a lock on one job delays neither the marks of later runs nor other broadcasts.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use crate::Pipeline;
use crate::dispatch::dispatcher::wait;
use crate::store::run::adopt::Waiting;

/// Each takes a connection of the engine, perhaps for as long as a statement may last; the marks need the others.
const AT_ONCE: usize = 4;

pub struct Expansions {
    places: Semaphore,
    /// Runs that are being expanded or wait for a place.
    open: Mutex<HashSet<i64>>,
}

impl Default for Expansions {
    fn default() -> Self {
        Self { places: Semaphore::new(AT_ONCE), open: Mutex::default() }
    }
}

impl Expansions {
    fn open(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_empty(&self) -> bool {
        self.open().is_empty()
    }
}

struct Open(Arc<Pipeline>, i64);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.expansions.open().remove(&self.1);
    }
}

/// Until it is done the run is not in the ring. A scan that reads the table again may put it there: that entry is dropped,
/// since the expansion under way puts the parts there, or the run itself.
pub fn spawn(pipeline: &Arc<Pipeline>, run: Waiting, addresses: Vec<String>) {
    if !pipeline.expansions.open().insert(run.run_id) {
        return;
    }
    let open = Open(pipeline.clone(), run.run_id);
    pipeline.sends.spawn(expand(open, run, addresses));
}

/// Its list of executors is fixed, and each part goes the ordinary way from there.
async fn expand(open: Open, run: Waiting, addresses: Vec<String>) {
    let pipeline = open.0.clone();
    // The semaphore is never closed.
    let place = pipeline.expansions.places.acquire().await.ok();
    let now = pipeline.clock.monotonic();
    if pipeline.holdings.marking_epoch(run.shard, now) != Some(run.epoch) {
        // The shard was lost meanwhile: the row is there for its next holder, perhaps this node.
        pipeline.overlaps.has_not_gone(&run);
        drop(open);
        return pipeline.read_again(run.shard);
    }
    let expanded = pipeline.store.expand(&run, &addresses, &pipeline.node).await;
    drop(place);
    match expanded {
        // It is expanded already, by a commit whose answer was lost: its parts are in the table.
        Ok(parts) if parts.is_empty() => pipeline.read_again(run.shard),
        Ok(parts) => {
            for part in parts {
                let due_at = part.due_at;
                pipeline.put_in_ring(part, due_at);
            }
        }
        Err(error) => {
            tracing::warn!(%error, run.id = run.run_id, "a broadcast could not be expanded yet");
            // First, or the next tick would drop it as one that is being expanded.
            drop(open);
            wait(&pipeline, run);
        }
    }
}
