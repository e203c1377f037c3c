//! How the executors of runs were chosen, where there is more to report than the mark holds. Written beside the results, many at
//! a time; losing some in a crash loses nothing that decides anything.

use carillon_store::Store;
use carillon_store::run::route::RouteTrace;
use parking_lot::Mutex;

/// Traces of one write.
const BATCH: usize = 500;
/// Traces that may wait; further ones are dropped: they are for people to read.
const WAITING: usize = 10_000;

#[derive(Default)]
pub struct TraceBuffer(Mutex<Vec<(i64, String)>>);

impl TraceBuffer {
    pub fn add(&self, run_id: i64, trace: &RouteTrace) {
        let mut waiting = self.0.lock();
        if waiting.len() < WAITING {
            waiting.push((run_id, serde_json::to_string(trace).unwrap_or_default()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Writes what waits; false if it has to be tried again.
    pub async fn write(&self, store: &Store) -> bool {
        let mut batch = {
            let mut waiting = self.0.lock();
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
        match store.runs().add_traces(&batch).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, run.count = batch.len(), "how executors were chosen could not be written yet");
                let mut waiting = self.0.lock();
                batch.append(&mut waiting);
                batch.truncate(WAITING);
                *waiting = batch;
                false
            }
        }
    }
}
