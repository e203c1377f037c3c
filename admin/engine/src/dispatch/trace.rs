//! How the executors of runs were chosen, where there is more to report than the mark holds. Written beside the results, many at
//! a time; losing some in a crash loses nothing that decides anything.

use std::sync::{Mutex, MutexGuard};

use crate::runtime::lock;
use carillon_store::Store;
use carillon_store::run::route::RouteTrace;

/// Traces of one write.
const BATCH: usize = 500;
/// Traces that may wait; further ones are dropped: they are for people to read.
const WAITING: usize = 10_000;

#[derive(Default)]
pub struct TraceBuffer(Mutex<Vec<(i64, String)>>);

impl TraceBuffer {
    fn waiting(&self) -> MutexGuard<'_, Vec<(i64, String)>> {
        lock(&self.0)
    }

    pub fn add(&self, run_id: i64, trace: &RouteTrace) {
        let mut waiting = self.waiting();
        if waiting.len() < WAITING {
            waiting.push((run_id, serde_json::to_string(trace).unwrap_or_default()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    /// Writes what waits; false if it has to be tried again.
    pub async fn write(&self, store: &Store) -> bool {
        let mut batch = {
            let mut waiting = self.waiting();
            let count = waiting.len().min(BATCH);
            waiting.drain(..count).collect::<Vec<_>>()
        };
        if batch.is_empty() {
            return true;
        }
        // One row a run, the latest; in the order of the key.
        batch.reverse();
        batch.sort_by_key(|(run_id, _)| *run_id);
        batch.dedup_by_key(|(run_id, _)| *run_id);
        match store.add_traces(&batch).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, run.count = batch.len(), "how executors were chosen could not be written yet");
                let mut waiting = self.waiting();
                batch.append(&mut waiting);
                batch.truncate(WAITING);
                *waiting = batch;
                false
            }
        }
    }
}
