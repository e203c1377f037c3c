//! Due jobs and delayed triggers → claimed runs → due queue, for one shard. A round drains the backlog; it does not stop at one page.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use carillon_scheduler::AlarmKind;
use foldhash::{HashMap, HashSet};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::context::Context;
use crate::dispatch::app_pauses::AppPauses;
use crate::job_cache::JobCache;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::lease::stalled_shards::StalledShards;
use crate::plan::batch_size::BatchSize;
use crate::plan::due_queue::DueQueue;
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Backoff, Periodic, Service, Step};
use crate::settings::ms;
use carillon_store as store;
use carillon_store::Error;
use carillon_store::run::claim::HeldLease;

/// Jobs planned, and delayed triggers released, at a time.
pub(crate) const PAGE: usize = 500;

/// No epoch.
pub(crate) const NONE: i64 = -1;

/// New cursors and new runs lie in the future, or a little behind: one that was written during the last scan, or is caught up.
pub(crate) const OVERLAP_MS: i64 = 60_000;

/// After this many failures in a row the job is paused.
pub const MOST_FAILURES: u32 = 3;

/// How often in a row planning a job has failed: one failure may have a passing cause.
#[derive(Default)]
pub struct PlanFailures(Mutex<HashMap<i64, u32>>);

impl PlanFailures {
    /// True: it was one too many.
    pub fn record(&self, job_id: i64) -> bool {
        let mut map = self.0.lock();
        let count = map.entry(job_id).or_default();
        *count += 1;
        *count >= MOST_FAILURES
    }

    pub fn clear(&self, job_id: i64) {
        self.0.lock().remove(&job_id);
    }
}

pub struct Scanner {
    pub shard: i32,
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) clock_guard: Arc<ClockGuard>,
    pub(crate) queue: Arc<DueQueue>,
    pub(crate) jobs: Arc<JobCache>,
    pub(crate) wakes: Arc<ScanWakes>,
    pub(crate) stalled: Arc<StalledShards>,
    /// Failed plans of each job, since the last good one.
    pub(crate) failures: PlanFailures,
    /// Plans of each job that took too long, since the last quick one.
    pub(crate) slow_plans: PlanFailures,
    pub(crate) batch: BatchSize,
    /// The epoch under which all that waits has been read once, and judged by its job's misfire policy.
    pub(crate) judged: AtomicI64,
    /// Nothing before this moment was left when a round ended.
    pub(crate) done_until: AtomicI64,
    /// Due now and then in any case: everything is looked for from the beginning, and what is not in the queue is read.
    pub(crate) audit: Periodic,
    /// Runs that cannot be read and are alarmed already.
    pub(crate) unreadable: Mutex<HashSet<i64>>,
    pub(crate) backoff: Backoff,
    pub(crate) pauses: Arc<AppPauses>,
    /// The apps whose triggers were left out when a round ended; None: all.
    pub(crate) paused: Mutex<Option<Vec<i64>>>,
}

/// What a round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanReport {
    /// Runs of a former holder, new fires without a schedule, and what had left the queue.
    pub adopted: usize,
    /// Recorded instants.
    pub claimed: usize,
    /// Delayed triggers that became runs.
    pub released: usize,
    /// Ranges of instants recorded as skipped.
    pub skipped: usize,
    /// Jobs paused because they cannot be planned.
    pub paused: usize,
}

impl Scanner {
    /// The ring of this node, which all scans fill.
    pub fn queue(&self) -> &Arc<DueQueue> {
        &self.queue
    }

    /// One round under this epoch. True: nothing was left, so the next round may wait until something comes near.
    #[tracing::instrument(name = "scan", level = "debug", skip_all, fields(shard = self.shard, lease.epoch = epoch))]
    async fn round(&self, epoch: i64, report: &mut ScanReport) -> store::Result<bool> {
        let holder =
            HeldLease { shard: self.shard, epoch, node: &self.cx.node, ttl_ms: ms(self.cx.settings.lease_ttl) };
        let now = self.cx.clock.now();
        let until = now + ms(self.cx.settings.look_ahead);
        // A job is claimed when its cursor is near, and then as far as the look-ahead goes: one claim for several of its fires.
        let near = now + ms(self.cx.settings.claim_within);
        let is_new = self.judged.load(Ordering::Relaxed) != epoch;
        let is_audit = self.audit.start_if_due(self.cx.clock.monotonic(), self.cx.settings.resolve_every) || is_new;
        let from = match is_audit {
            true => None,
            // After a clock went back, `near` is the earlier one.
            false => Some(self.done_until.load(Ordering::Relaxed).min(near).saturating_sub(OVERLAP_MS)),
        };
        // The next round reads and judges everything again, unless this round is known to have succeeded.
        self.judged.store(NONE, Ordering::Relaxed);
        report.adopted += self.adopt_orphans(&holder, (from, until), is_new, is_audit).await?;
        self.judged.store(epoch, Ordering::Relaxed);
        if from.is_none() {
            self.done_until.store(i64::MIN, Ordering::Relaxed);
        }
        let from = from.unwrap_or(i64::MIN);
        let mut triggers = self.trigger_pages(from, now);
        loop {
            let room = self.queue.free();
            if self.queue.update_full_flag(room) {
                self.alarm_full_queue().await;
            }
            if room == 0 || self.held.epoch(self.shard) != Some(epoch) {
                return triggers.finish();
            }
            // By turns with the jobs: a backlog of one must not hold up the other.
            let has_moved = self.release_page(&holder, near, &mut triggers, report).await?;
            let room = self.queue.free();
            let due = self.cx.store.runs().due_jobs_from(self.shard, from, near, PAGE.min(room)).await?;
            let (is_full, found) = (due.len() == PAGE.min(room), due.len());
            let (done, more) = self.plan_and_claim(&holder, due, (near, until), report).await?;
            if !is_full && !more && done == found && !triggers.is_some_left() {
                self.done_until.store(near, Ordering::Relaxed);
                *self.paused.lock() = triggers.into_paused();
                return Ok(!self.wakes.needs_reread(self.shard));
            }
            // A page on which nothing moved would come back as it is.
            if done == 0 && !has_moved {
                return triggers.finish();
            }
        }
    }

    async fn alarm_full_queue(&self) {
        let text = format!(
            "{} runs wait in the memory of node {}: nothing more is claimed until some have left",
            self.queue.capacity, self.cx.node
        );
        self.cx.raise_alarm(AlarmKind::Ring, None, None, text).await;
    }

    fn handle_error(&self, error: &Error, epoch: i64) {
        if matches!(error, Error::Fenced(_)) {
            self.held.fence(self.shard, epoch);
        } else {
            tracing::warn!(shard = self.shard, %error, "a scan failed; the next one goes on");
        }
        // What was committed although its answer was lost is found in the table.
        self.wakes.read_again_later(self.shard);
    }
}

impl Service for Scanner {
    const NAME: &'static str = "scan";
    type Report = ScanReport;

    fn wake(&self) -> Option<Arc<Notify>> {
        self.wakes.of(self.shard)
    }

    fn shard(&self) -> Option<i32> {
        Some(self.shard)
    }

    async fn step(&self) -> Step<ScanReport> {
        let mut did = ScanReport::default();
        let mut next = self.cx.settings.scan_every;
        if let Some(epoch) = self.held.epoch(self.shard).filter(|_| !self.clock_guard.is_suspect()) {
            let timer = self.cx.metrics.scan.start_timer();
            let done = self.round(epoch, &mut did).await;
            timer.observe_duration();
            match done {
                Ok(is_done) => {
                    self.backoff.succeeded();
                    self.stalled.record_success(self.shard, self.cx.clock.monotonic());
                    if is_done {
                        next = self.cx.settings.resolve_every;
                    }
                }
                Err(error) => {
                    self.handle_error(&error, epoch);
                    next = self.backoff.failed();
                }
            }
        }
        Step { did, next }
    }
}
