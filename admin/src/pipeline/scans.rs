//! The scans of all shards, one service each; more of them when the database gets more shards.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Pipeline, Scan};
use crate::runtime;

pub struct Scans {
    pipeline: Arc<Pipeline>,
    made: Mutex<Vec<Arc<Scan>>>,
}

impl Scans {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self {
            pipeline,
            made: Mutex::default(),
        }
    }

    /// One for each shard there is, and for those that there have been: they find nothing to do.
    pub fn all(&self) -> Vec<Arc<Scan>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let first = i32::try_from(made.len()).unwrap_or(i32::MAX);
        let new = |shard| Arc::new(Scan::new(self.pipeline.clone(), shard));
        made.extend((first..self.pipeline.shards()).map(new));
        made.clone()
    }

    /// Runs them until `stop`, and those that come later.
    pub async fn run(
        self: Arc<Self>,
        tasks: TaskTracker,
        stop: CancellationToken,
        fatal: CancellationToken,
    ) {
        let mut running = 0;
        while !stop.is_cancelled() {
            let all = self.all();
            for scan in &all[running..] {
                runtime::run(scan.clone(), &tasks, stop.clone(), fatal.clone());
            }
            running = all.len();
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.pipeline.more_shards.notified() => {}
            }
        }
    }
}
