//! The scans of all shards, one service each, and one task for each shard that this node holds.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::runtime;
use crate::{Pipeline, Scan};

pub struct Scans {
    pipeline: Arc<Pipeline>,
    made: Mutex<Vec<Arc<Scan>>>,
}

/// What the task of a shard needs.
struct Ground {
    tasks: TaskTracker,
    stop: CancellationToken,
    fatal: CancellationToken,
}

/// The task of a shard.
struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    fn start(scan: Arc<Scan>, after: Option<Self>, ground: &Ground) -> Self {
        let stop = ground.stop.child_token();
        let steps = runtime::steps(scan, stop.clone(), ground.fatal.clone());
        let task = ground.tasks.spawn(async move {
            // Lost and taken again: two tasks of one shard would only be in each other's way.
            if let Some(before) = after {
                before.task.await.unwrap_or_default();
            }
            steps.await;
        });
        Self { stop, task }
    }
}

impl Scans {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self { pipeline, made: Mutex::default() }
    }

    /// One for each shard there is, and for those that there have been: they find nothing to do.
    pub fn all(&self) -> Vec<Arc<Scan>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let first = i32::try_from(made.len()).unwrap_or(i32::MAX);
        let new = |shard| Arc::new(Scan::new(self.pipeline.clone(), shard));
        made.extend((first..self.pipeline.shards()).map(new));
        made.clone()
    }

    /// Runs those of the shards that are held, each from its taking to its loss, until `stop`.
    pub async fn run(self: Arc<Self>, tasks: TaskTracker, stop: CancellationToken, fatal: CancellationToken) {
        let ground = Ground { tasks, stop, fatal };
        let mut running = BTreeMap::new();
        while !ground.stop.is_cancelled() {
            self.follow(&mut running, &ground);
            tokio::select! {
                () = ground.stop.cancelled() => return,
                () = self.pipeline.holdings.changed.notified() => {}
            }
        }
    }

    /// A task for each shard that is held now, and an end to all others.
    fn follow(&self, running: &mut BTreeMap<i32, Running>, ground: &Ground) {
        let held = self.pipeline.holdings.all();
        running.retain(|shard, scan| {
            if !held.contains_key(shard) {
                scan.stop.cancel();
            }
            !scan.task.is_finished()
        });
        let all = self.all();
        for shard in held.into_keys() {
            let goes_on = |scan: &Running| !scan.stop.is_cancelled();
            if running.get(&shard).is_some_and(goes_on) {
                continue;
            }
            if let Some(scan) = all.get(shard as usize) {
                let before = running.remove(&shard);
                running.insert(shard, Running::start(scan.clone(), before, ground));
            }
        }
    }
}
