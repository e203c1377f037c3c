//! Due jobs → claimed runs → ring, for one shard. A round drains the backlog; it does not stop at one page.

mod adopted;
mod batch;
mod planned;
#[cfg(feature = "failpoints")]
mod unrecorded;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::{AlarmKind, Millis};
use tokio::sync::Notify;

use super::Pipeline;
use super::periodic::Periodic;
use super::settings::ms;
use crate::runtime::Service;
use crate::store::claim::Holder;
use crate::store::{self, Error};

/// Jobs planned at a time.
const PAGE: usize = 200;

pub struct Scan {
    pub pipeline: Arc<Pipeline>,
    pub shard: i32,
    /// Failed plans of each job, since the last good one.
    strikes: planned::Strikes,
    batch: batch::Batch,
    /// The whole ring of this shard is read from the table again, not only what was adopted.
    reload: AtomicBool,
    /// It is done now and then anyway, whatever went wrong.
    audit: Periodic,
}

impl Scan {
    pub fn new(pipeline: Arc<Pipeline>, shard: i32) -> Self {
        Self {
            pipeline,
            shard,
            strikes: planned::Strikes::default(),
            batch: batch::Batch::default(),
            reload: AtomicBool::new(true),
            audit: Periodic::after_one(),
        }
    }

    /// One round under this epoch.
    async fn round(&self, epoch: i64) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let holder = Holder {
            shard: self.shard,
            epoch,
            node: &pipeline.node,
            ttl_ms: ms(pipeline.settings.ttl),
        };
        let until = pipeline.clock.now() + ms(pipeline.settings.look_ahead);
        self.fill(&holder, until).await?;
        loop {
            let room = pipeline.ring().free();
            self.tell_of_full_ring(room).await;
            if room == 0
                || pipeline
                    .holdings
                    .epoch(self.shard, pipeline.clock.monotonic())
                    != Some(epoch)
            {
                return Ok(());
            }
            let due = pipeline
                .store
                .due_jobs(self.shard, until, PAGE.min(room))
                .await?;
            let (full, found) = (due.len() == PAGE.min(room), due.len());
            let (done, more) = self.plan_and_claim(&holder, due, until).await?;
            // A page on which nothing moved would come back as it is.
            if !full && !more && done == found || done == 0 {
                return Ok(());
            }
        }
    }

    /// Orphans and new fires by hand are adopted; what is not in the ring yet is read from the table.
    async fn fill(&self, holder: &Holder<'_>, until: Millis) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let adopted = pipeline.store.adopt(holder, until).await?;
        if adopted > 0 || self.reload.swap(false, Ordering::Relaxed) || self.audit_is_due() {
            let read = pipeline
                .store
                .waiting(
                    self.shard,
                    holder.epoch,
                    until,
                    pipeline.settings.ring_capacity,
                )
                .await;
            if read.is_err() {
                self.reload.store(true, Ordering::Relaxed);
            }
            self.enter_ring(read?).await?;
        }
        Ok(())
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
        // Whatever was committed without our hearing of it is found in the table.
        self.reload.store(true, Ordering::Relaxed);
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
        if let Some(epoch) = pipeline
            .holdings
            .epoch(self.shard, pipeline.clock.monotonic())
        {
            let timer = pipeline.metrics.scan.start_timer();
            if let Err(error) = self.round(epoch).await {
                self.look_after(&error, epoch);
            }
            timer.observe_duration();
        } else {
            self.reload.store(true, Ordering::Relaxed);
        }
        pipeline.settings.scan_every
    }
}
