//! The scans of all shards, one service each, and one task for each shard that this node holds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::context::Context;
use crate::dispatch::app_pauses::AppPauses;
use crate::job_cache::JobCache;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::lease::stalled_shards::StalledShards;
use crate::plan::batch_size::BatchSize;
use crate::plan::due_queue::DueQueue;
use crate::plan::scanner::{NONE, PlanFailures, Scanner};
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Backoff, Periodic, steps};

pub struct ScannerPool {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub clock_guard: Arc<ClockGuard>,
    pub queue: Arc<DueQueue>,
    pub jobs: Arc<JobCache>,
    pub wakes: Arc<ScanWakes>,
    pub stalled: Arc<StalledShards>,
    pub pauses: Arc<AppPauses>,
    pub scanners: Arc<Mutex<Vec<Arc<Scanner>>>>,
}

/// What the task of a shard needs.
struct ScannerContext {
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
    fn start(scanner: Arc<Scanner>, after: Option<Self>, context: &ScannerContext) -> Self {
        let stop = context.stop.child_token();
        let list = scanner.cx.tasks.clone();
        let steps = steps(scanner, list, stop.clone(), context.fatal.clone());
        let task = context.tasks.spawn(async move {
            // Lost and taken again: two tasks of one shard would only disturb each other.
            if let Some(before) = after {
                before.task.await.unwrap_or_default();
            }
            steps.await;
        });
        Self { stop, task }
    }
}

impl ScannerPool {
    /// One for each shard there is, and for those that there have been: they find nothing to do.
    pub fn all(&self) -> Vec<Arc<Scanner>> {
        let mut scanners = self.scanners.lock();
        let first = i32::try_from(scanners.len()).unwrap_or(i32::MAX);
        scanners.extend((first..self.held.total()).map(|shard| Arc::new(self.scanner(shard))));
        scanners.clone()
    }

    fn scanner(&self, shard: i32) -> Scanner {
        Scanner {
            shard,
            cx: self.cx.clone(),
            held: self.held.clone(),
            clock_guard: self.clock_guard.clone(),
            queue: self.queue.clone(),
            jobs: self.jobs.clone(),
            wakes: self.wakes.clone(),
            stalled: self.stalled.clone(),
            failures: PlanFailures::default(),
            slow_plans: PlanFailures::default(),
            batch: BatchSize::default(),
            judged: AtomicI64::new(NONE),
            done_until: AtomicI64::new(i64::MIN),
            audit: Periodic::after_one(),
            unreadable: Mutex::default(),
            backoff: Backoff::default(),
            pauses: self.pauses.clone(),
            paused: Mutex::default(),
        }
    }

    /// Runs those of the shards that are held, each from its taking to its loss, until `stop`.
    pub async fn run(self: Arc<Self>, tasks: TaskTracker, stop: CancellationToken, fatal: CancellationToken) {
        let context = ScannerContext { tasks, stop, fatal };
        let mut running = BTreeMap::new();
        while !context.stop.is_cancelled() {
            self.follow(&mut running, &context);
            tokio::select! {
                () = context.stop.cancelled() => return,
                () = self.held.changed.notified() => {}
            }
        }
    }

    /// A task for each shard that is held now, and an end to all others.
    fn follow(&self, running: &mut BTreeMap<i32, Running>, context: &ScannerContext) {
        let held = self.held.shards();
        running.retain(|shard, scan| {
            if !held.contains(shard) {
                scan.stop.cancel();
            }
            !scan.task.is_finished()
        });
        let all = self.all();
        for shard in held {
            let goes_on = |scan: &Running| !scan.stop.is_cancelled();
            if running.get(&shard).is_some_and(goes_on) {
                continue;
            }
            if let Some(scan) = all.get(shard as usize) {
                let before = running.remove(&shard);
                running.insert(shard, Running::start(scan.clone(), before, context));
            }
        }
    }
}
