//! Alarms that stay open are escalated by the holder of the first shard.

use std::sync::Arc;

use crate::context::Context;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::runtime::{Service, Step};
use crate::settings::ms;
use carillon_store as store;
use carillon_store::alarm::alarms::AlarmRow;

pub struct AlarmEscalator {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub clock_guard: Arc<ClockGuard>,
}

impl AlarmEscalator {
    async fn round(&self) -> store::Result<usize> {
        if !self.held.has_first() || self.clock_guard.is_suspect() {
            return Ok(0);
        }
        let now = self.cx.clock.now();
        self.cx.store.alarms().close_resolved(now).await?;
        let since = now - ms(self.cx.settings.escalate_after);
        let escalated = self.cx.store.alarms().escalate(since, now).await?;
        escalated.iter().for_each(|row| self.log(row));
        Ok(escalated.len())
    }

    fn log(&self, row: &AlarmRow) {
        let alarm = &row.alarm;
        self.cx.metrics.escalated.with_label_values(&[alarm.kind.as_str()]).inc();
        let minutes = ms(self.cx.settings.escalate_after) / 60_000;
        tracing::warn!(
            alarm.id = row.id,
            alarm.kind = %alarm.kind,
            job.id = alarm.job_id,
            run.id = alarm.run_id,
            "alarm, unresolved for {minutes} minutes: {}",
            alarm.text
        );
    }
}

impl Service for AlarmEscalator {
    const NAME: &'static str = "escalate";
    /// Alarms that were escalated.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let did = self.round().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "open alarms could not be looked at; the next round goes on");
            0
        });
        Step { did, next: self.cx.settings.resolve_every }
    }
}
