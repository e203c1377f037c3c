//! What is due goes to dispatch: all that is overdue, however late the tick.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use crate::Pipeline;
use crate::dispatch::dispatcher;
use crate::runtime::Service;
use crate::settings::ms;

pub struct Tick(pub Arc<Pipeline>);

#[async_trait]
impl Service for Tick {
    fn name(&self) -> &'static str {
        "tick"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.0.tick_wake.clone())
    }

    async fn step(&self) -> Duration {
        if self.0.clock_is_in_doubt() {
            return self.0.settings.tick_every;
        }
        let ahead = ms(self.0.settings.mark_ahead);
        let (due, ring_len) = {
            let mut ring = self.0.ring();
            let due = ring.drain_due(self.0.clock.now() + ahead);
            (due, ring.len())
        };
        self.0.metrics.ring.set(ring_len as i64);
        if !due.is_empty() {
            dispatcher::dispatch(&self.0, due.into_iter().map(|entry| entry.payload).collect()).await;
        }
        self.pause()
    }
}

impl Tick {
    /// Until the next entry may be marked, at most `tick_every`.
    fn pause(&self) -> Duration {
        let next = self.0.ring().next_due();
        let until = next.map_or(i64::MAX, |due| due - ms(self.0.settings.mark_ahead) - self.0.clock.now());
        Duration::from_millis(until.max(0) as u64).min(self.0.settings.tick_every)
    }
}
