//! Due jobs → claimed runs → ring, for one shard. A round drains the backlog; it does not stop at one page.

use crate::plan::batch_size;
use crate::plan::planner;
use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::{AlarmKind, Millis};
use tokio::sync::Notify;

use crate::Pipeline;
use crate::maintain::periodic::Periodic;
use crate::plan::adopt::Lateness;
use crate::plan::backoff::Backoff;
use crate::runtime::Service;
use crate::settings::ms;
use crate::store;
use crate::store::Error;
use crate::store::run::claim::Holder;

/// Jobs planned at a time.
const PAGE: usize = 200;

/// No epoch.
const NONE: i64 = -1;

/// New cursors and new runs lie in the future, or a little behind: one that was written while its scan looked, or is caught up.
const BEHIND_MS: i64 = 60_000;

pub struct Scan {
    pub pipeline: Arc<Pipeline>,
    pub shard: i32,
    /// Failed plans of each job, since the last good one.
    pub(crate) strikes: planner::Strikes,
    /// Plans of each job that took too long, since the last quick one.
    pub(crate) slow: planner::Strikes,
    pub(crate) batch: batch_size::Batch,
    /// The epoch under which all that waits has been read once, and judged by its job's misfire policy.
    pub(crate) judged: AtomicI64,
    /// Nothing before this moment was left when a round ended.
    pub(crate) done_until: AtomicI64,
    /// Done now and then in any case: everything is looked for from the beginning, and what is not in the ring is read.
    pub(crate) audit: Periodic,
    /// Runs that cannot be read and are alarmed already.
    pub(crate) unreadable: Mutex<HashSet<i64>>,
    pub(crate) backoff: Backoff,
}

impl Scan {
    pub fn new(pipeline: Arc<Pipeline>, shard: i32) -> Self {
        Self {
            pipeline,
            shard,
            strikes: planner::Strikes::default(),
            slow: planner::Strikes::default(),
            batch: batch_size::Batch::default(),
            judged: AtomicI64::new(NONE),
            done_until: AtomicI64::new(i64::MIN),
            audit: Periodic::after_one(),
            unreadable: Mutex::default(),
            backoff: Backoff::default(),
        }
    }

    /// One round under this epoch.
    async fn round(&self, epoch: i64) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let holder = Holder { shard: self.shard, epoch, node: &pipeline.node, ttl_ms: ms(pipeline.settings.ttl) };
        let until = pipeline.clock.now() + ms(pipeline.settings.look_ahead);
        let is_new = self.judged.load(Ordering::Relaxed) != epoch;
        let audit = self.audit_is_due() || is_new;
        let from = match audit {
            true => None,
            // After a clock went back, `until` is the earlier one.
            false => Some(self.done_until.load(Ordering::Relaxed).min(until).saturating_sub(BEHIND_MS)),
        };
        // Unless it is heard that all went well: read and judged anew.
        self.judged.store(NONE, Ordering::Relaxed);
        self.fill(&holder, (from, until), is_new, audit).await?;
        self.judged.store(epoch, Ordering::Relaxed);
        if from.is_none() {
            self.done_until.store(i64::MIN, Ordering::Relaxed);
        }
        let from = from.unwrap_or(i64::MIN);
        loop {
            let room = pipeline.ring().free();
            self.tell_of_full_ring(room).await;
            if room == 0 || pipeline.holdings.epoch(self.shard, pipeline.clock.monotonic()) != Some(epoch) {
                return Ok(());
            }
            let due = pipeline.store.due_jobs_from(self.shard, from, until, PAGE.min(room)).await?;
            let (full, found) = (due.len() == PAGE.min(room), due.len());
            let (done, more) = self.plan_and_claim(&holder, due, until).await?;
            if !full && !more && done == found {
                self.done_until.store(until, Ordering::Relaxed);
                return Ok(());
            }
            // A page on which nothing moved would come back as it is.
            if done == 0 {
                return Ok(());
            }
        }
    }

    /// Orphans and new fires by hand are adopted, as many as there is room for. What waits under our epoch and is not in the
    /// ring is read from the table: at first, now and then, and when something may have fallen out.
    async fn fill(
        &self,
        holder: &Holder<'_>,
        (from, until): (Option<Millis>, Millis),
        is_new: bool,
        audit: bool,
    ) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let room = pipeline.ring().free();
        let adopted = pipeline.store.adopt(holder, from, until, room).await?;
        if !is_new {
            self.enter_ring(holder, adopted, Lateness::Judged).await?;
        }
        let now = pipeline.clock.monotonic();
        if !pipeline.reread.is_asked(self.shard, now) && !audit {
            return Ok(());
        }
        let capacity = pipeline.settings.ring_capacity;
        let mut waiting = pipeline.store.waiting_ids(self.shard, holder.epoch, until, capacity).await?;
        {
            let ring = pipeline.ring();
            let is_in = |id: &i64| ring.get(*id).is_some_and(|run| run.epoch == holder.epoch);
            waiting.retain(|id| !is_in(id));
        }
        // What this holder has claimed itself was claimed in time: it may wait for an executor as long as it must.
        let lateness = match is_new {
            true => Lateness::Judged,
            false => Lateness::Ours,
        };
        self.enter_ring(holder, waiting, lateness).await
    }

    /// Once, until there is room again: what is not claimed keeps its cursor, and is late.
    async fn tell_of_full_ring(&self, room: usize) {
        let pipeline = &self.pipeline;
        let capacity = pipeline.settings.ring_capacity;
        if room > capacity / 10 {
            pipeline.ring_is_full.store(false, Ordering::Relaxed);
        }
        if room > 0 || pipeline.ring_is_full.swap(true, Ordering::Relaxed) {
            return;
        }
        let text = format!(
            "{capacity} runs wait in the memory of node {}: nothing more is claimed until some have left",
            pipeline.node
        );
        let raised = pipeline.raise_alarm(AlarmKind::Ring, None, None, &*text);
        if let Err(error) = raised.await {
            tracing::error!(%error, "an alarm could not be stored: {text}");
        }
    }

    fn audit_is_due(&self) -> bool {
        let pipeline = &self.pipeline;
        let now = pipeline.clock.monotonic();
        self.audit.is_due(now, pipeline.settings.resolve_every)
    }

    fn look_after(&self, error: &Error, epoch: i64) {
        if matches!(error, Error::Fenced(_)) {
            self.pipeline.fenced(self.shard, epoch);
        } else {
            tracing::warn!(shard = self.shard, %error, "a scan failed; the next one goes on");
        }
        // What was committed without our hearing of it is found in the table.
        let pipeline = &self.pipeline;
        pipeline.reread.ask(self.shard, pipeline.clock.monotonic());
    }
}

#[async_trait]
impl Service for Scan {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        self.pipeline.scan_wakes.get(self.shard as usize).cloned()
    }

    async fn step(&self) -> Duration {
        let pipeline = &self.pipeline;
        if pipeline.clock_is_in_doubt() {
            return pipeline.settings.scan_every;
        }
        if let Some(epoch) = pipeline.holdings.epoch(self.shard, pipeline.clock.monotonic()) {
            let timer = pipeline.metrics.scan.start_timer();
            let done = self.round(epoch).await;
            timer.observe_duration();
            match done {
                Ok(()) => self.backoff.succeeded(),
                Err(error) => {
                    self.look_after(&error, epoch);
                    return self.backoff.failed();
                }
            }
        }
        pipeline.settings.scan_every
    }
}
