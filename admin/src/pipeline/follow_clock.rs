//! Keeps this node's clock on the database's, so that all nodes agree with each other.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::Observed;

use super::Pipeline;
use crate::runtime::Service;

pub struct FollowClock(pub Arc<Pipeline>);

#[async_trait]
impl Service for FollowClock {
    fn name(&self) -> &'static str {
        "clock"
    }

    async fn step(&self) -> Duration {
        let pipeline = &self.0;
        let asked = pipeline.clock.monotonic();
        match pipeline.store.database_now().await {
            Ok(Some(database_now)) => {
                let here = pipeline.clock.now();
                pipeline
                    .metrics
                    .clock_difference
                    .set((database_now - here) as f64 / 1000.0);
                let answered = pipeline.clock.monotonic();
                let observed = pipeline.clock.observe(database_now, asked, answered);
                let held = matches!(observed, Observed::Held { .. });
                pipeline.clock_in_doubt.store(held, Ordering::Relaxed);
                match observed {
                    Observed::Slewed { .. } => {}
                    Observed::Held { samples } => {
                        tracing::warn!(
                            samples,
                            by_ms = database_now - here,
                            "the database's clock has jumped; nothing is claimed or sent until that is confirmed"
                        );
                        return Duration::from_secs(1);
                    }
                    Observed::Stepped { by } => tracing::warn!(
                        by_ms = by,
                        "the database's clock has jumped, and is followed"
                    ),
                }
            }
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "the database's clock could not be read"),
        }
        Duration::from_secs(3)
    }
}
