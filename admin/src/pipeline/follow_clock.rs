//! Keeps this node's clock on the database's, so that all nodes agree with each other.
//!
//! A jump is not taken at once: nothing is claimed or marked until three samples agree, and with them another clock, this
//! machine's or Redis'. Without such a witness the node goes on by its own reckoning for the time of a lease, and then works
//! nothing until somebody has put the clocks right. Whatever leases are worth after a jump, the database says it anew.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::clock::AGREE_MS;
use carillon_scheduler::{AlarmKind, Millis, Observed, Sample};

use super::Pipeline;
use super::settings::ms;
use crate::runtime::Service;

/// This machine's clock differs by more than that: somebody should know.
const DIFFERS_MS: i64 = 5_000;

pub struct FollowClock {
    pipeline: Arc<Pipeline>,
    doubt: Mutex<Doubt>,
}

#[derive(Default)]
struct Doubt {
    /// When it began, on the monotonic clock.
    since: Option<Duration>,
    told: bool,
    /// Told that this machine's clock differs.
    differs: bool,
}

impl FollowClock {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self {
            pipeline,
            doubt: Mutex::default(),
        }
    }

    fn doubt<T>(&self, change: impl FnOnce(&mut Doubt) -> T) -> T {
        change(&mut self.doubt.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The database's clock has said this, and was asked then. Answers when to ask again.
    pub async fn heard(&self, db_now: Millis, asked: Duration) -> Duration {
        let pipeline = &self.pipeline;
        let here = pipeline.clock.now();
        let by = db_now - here;
        pipeline.metrics.clock_difference.set(by as f64 / 1000.0);
        let observed = pipeline.clock.observe(Sample {
            db_now,
            asked,
            answered: pipeline.clock.monotonic(),
            confirmed: self.is_confirmed(db_now, by).await,
        });
        let held = matches!(observed, Observed::Held { .. });
        pipeline.clock_in_doubt.store(held, Ordering::Relaxed);
        match observed {
            Observed::Slewed { .. } => self.is_certain(db_now).await,
            Observed::Held { samples } => {
                self.is_in_doubt(samples, by, asked).await;
                return Duration::from_secs(1);
            }
            Observed::Stepped { by } => {
                let text = format!(
                    "the database's clock has jumped by {} s, and is followed",
                    by as f64 / 1000.0
                );
                self.tell(text).await;
                self.is_certain(db_now).await;
            }
        }
        Duration::from_secs(3)
    }

    /// Does another clock say the same? Asked only when it matters.
    async fn is_confirmed(&self, db_now: Millis, by: i64) -> bool {
        let agrees =
            |other: Option<Millis>| other.is_some_and(|now| (now - db_now).abs() <= AGREE_MS);
        by.abs() > DIFFERS_MS
            && (agrees(self.pipeline.clock.wall()) || agrees(self.pipeline.leases.now().await))
    }

    async fn is_in_doubt(&self, samples: u32, by: i64, asked: Duration) {
        let pipeline = &self.pipeline;
        tracing::warn!(
            samples,
            by_ms = by,
            "the database's clock has jumped; nothing is claimed or sent until that is confirmed"
        );
        let ttl = pipeline.settings.ttl;
        // This machine may have slept: its monotonic clock did not count that, and its leases are over.
        if samples == 1 && by.abs() > ms(ttl) {
            pipeline.close();
        }
        let since = self.doubt(|doubt| *doubt.since.get_or_insert(asked));
        if samples >= 3 && !self.doubt(|doubt| std::mem::replace(&mut doubt.told, true)) {
            let text = format!(
                "clocks differ: the database's clock has jumped by {} s, and no other clock of node {} agrees with it",
                by as f64 / 1000.0,
                pipeline.node
            );
            self.tell(text).await;
        }
        if asked - since > ttl && !pipeline.clock_is_lost.swap(true, Ordering::Relaxed) {
            tracing::error!(
                "no clock could be made out for the time of a lease: this node works nothing"
            );
            pipeline.close();
        }
    }

    async fn is_certain(&self, db_now: Millis) {
        let pipeline = &self.pipeline;
        pipeline.clock_is_lost.store(false, Ordering::Relaxed);
        let by = pipeline.clock.wall().map_or(0, |wall| wall - db_now);
        let differs = by.abs() > DIFFERS_MS;
        let news = self.doubt(|doubt| {
            (doubt.since, doubt.told) = (None, false);
            differs && !std::mem::replace(&mut doubt.differs, differs)
        });
        if news {
            let text = format!(
                "clocks differ: this machine's is {} s ahead of the database's, which counts (node {})",
                by as f64 / 1000.0,
                pipeline.node
            );
            self.tell(text).await;
        } else if !differs {
            self.doubt(|doubt| doubt.differs = false);
        }
    }

    async fn tell(&self, text: String) {
        let raised = self
            .pipeline
            .raise_alarm(AlarmKind::Clock, None, None, &*text);
        if let Err(error) = raised.await {
            tracing::error!(%error, "an alarm could not be stored: {text}");
        }
    }
}

#[async_trait]
impl Service for FollowClock {
    fn name(&self) -> &'static str {
        "clock"
    }

    async fn step(&self) -> Duration {
        let asked = self.pipeline.clock.monotonic();
        match self.pipeline.store.database_now().await {
            Ok(Some(db_now)) => return self.heard(db_now, asked).await,
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "the database's clock could not be read"),
        }
        Duration::from_secs(3)
    }
}
