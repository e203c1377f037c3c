//! Looks after the limits: reads them each second, says in the rows of runs that they wait, and frees slots that no run at work has. The
//! holder of the first shard does that last one for all.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::AlarmKind;

use crate::context::Context;
use crate::dispatch::limits::gate::{LimitGate, POLL};
use crate::dispatch::limits::rules::LimitRules;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::runtime::{Periodic, Service, Step};
use carillon_store as store;
use carillon_store::app::limits::audit::StaleSlot;

const REFRESH: Duration = Duration::from_secs(1);
const AUDIT: Duration = Duration::from_secs(10);

pub struct LimitKeeper {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) clock_guard: Arc<ClockGuard>,
    pub(crate) limit_rules: Arc<LimitRules>,
    pub(crate) limits: Arc<LimitGate>,
    pub(crate) refreshed: Periodic,
    pub(crate) audited: Periodic,
}

impl Service for LimitKeeper {
    const NAME: &'static str = "limits";
    /// Runs of which it was noted that they wait.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let now = self.cx.clock.monotonic();
        if self.refreshed.start_if_due(now, REFRESH) {
            match self.limit_rules.refresh().await {
                // One may have more slots now.
                Ok(true) => self.limits.wake(),
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "the limits could not be read; the last ones stay in force"),
            }
        }
        self.cx.metrics.limit_waiting.set(self.limits.waiting() as i64);
        let did = self.limits.note_waiting().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "it could not be noted yet which runs wait for slots");
            0
        });
        if self.audited.start_if_due(now, AUDIT)
            && let Err(error) = self.audit().await
        {
            tracing::warn!(%error, "the slots of limits could not be compared with the runs; the next round tries again");
        }
        Step { did, next: POLL }
    }
}

impl LimitKeeper {
    /// Nothing of ours leaves such a slot, so each of them is an alarm.
    async fn audit(&self) -> store::Result<()> {
        if !self.held.has_first() || self.clock_guard.is_suspect() {
            return Ok(());
        }
        for slot in self.cx.store.limits().free_stale().await? {
            self.cx.raise_alarm(AlarmKind::Stuck, None, Some(slot.run_id), alarm_text(&slot)).await;
            self.limits.freed();
        }
        Ok(())
    }
}

fn alarm_text(StaleSlot { run_id, limit, state }: &StaleSlot) -> String {
    match (state, limit) {
        (Some(state), Some(name)) => {
            format!("run {run_id} is {state} and had a slot of the limit {name}, which is free now")
        }
        (None, Some(name)) => {
            format!("run {run_id} does not exist and had a slot of the limit {name}, which is free now")
        }
        (Some(state), None) => format!("run {run_id} is {state} and had a slot of a limit, which is free now"),
        (None, None) => format!("run {run_id} does not exist and had a slot of a limit, which is free now"),
    }
}
