//! What somebody should look at: runs that are due and were not sent for too long, flagged by the holder of their shard, and
//! alarms that nobody has resolved, escalated by the holder of the first one.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::Pipeline;
use super::settings::ms;
use crate::runtime::Service;
use crate::store;
use crate::store::alarm::AlarmRow;

/// A run is flagged within a second of its time.
const EVERY: Duration = Duration::from_secs(1);

pub struct Pending(pub Arc<Pipeline>);

impl Pending {
    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.0;
        if pipeline.clock_is_in_doubt() {
            return Ok(());
        }
        let after = ms(pipeline.settings.flag_after);
        for shard in pipeline.holdings.all().into_keys() {
            let Some(epoch) = pipeline.holdings.epoch(shard, pipeline.clock.monotonic()) else {
                continue;
            };
            let now = pipeline.clock.now();
            let flagged = pipeline
                .store
                .flag_pending(shard, epoch, after, now)
                .await?;
            pipeline.metrics.flagged.inc_by(flagged.runs as u64);
            for alarm in &flagged.alarms {
                pipeline.tell_alarm(alarm);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Service for Pending {
    fn name(&self) -> &'static str {
        "pending"
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::debug!(%error, "runs that wait could not be looked at; the next round goes on");
        }
        EVERY
    }
}

pub struct Escalate(pub Arc<Pipeline>);

impl Escalate {
    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.0;
        let is_ours = pipeline
            .holdings
            .epoch(0, pipeline.clock.monotonic())
            .is_some();
        if !is_ours || pipeline.clock_is_in_doubt() {
            return Ok(());
        }
        let now = pipeline.clock.now();
        pipeline.store.close_what_is_over(now).await?;
        let since = now - ms(pipeline.settings.escalate_after);
        for row in pipeline.store.escalate(since, now).await? {
            self.tell(&row);
        }
        Ok(())
    }

    fn tell(&self, row: &AlarmRow) {
        let alarm = &row.alarm;
        self.0
            .metrics
            .escalated
            .with_label_values(&[alarm.kind.as_str()])
            .inc();
        let minutes = ms(self.0.settings.escalate_after) / 60_000;
        tracing::warn!(
            alarm.id = row.id,
            kind = %alarm.kind,
            job.id = alarm.job_id,
            run.id = alarm.run_id,
            "alarm, unresolved for {minutes} minutes: {}",
            alarm.text
        );
    }
}

#[async_trait]
impl Service for Escalate {
    fn name(&self) -> &'static str {
        "escalate"
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "open alarms could not be looked at; the next round goes on");
        }
        self.0.settings.resolve_every
    }
}
