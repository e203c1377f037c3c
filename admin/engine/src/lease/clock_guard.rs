//! Keeps this node's clock on the one that counts: the database's, so that all nodes agree with each other; on SQLite, which
//! has no clock and one node, this machine's.
//!
//! A jump is not taken at once: nothing is claimed or marked until three samples agree, and on a database server another
//! clock with them, this machine's or Redis'. Without such a witness the node goes on by its own reckoning for the time of
//! a lease, and then works nothing until the clocks are put right. On SQLite no other clock counts: three samples of
//! this machine's clock, a second apart, are enough. Refusing them would leave the node on a wrong time until its restart.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::clock::AGREE_MS;
use carillon_scheduler::{AlarmKind, Millis, Observed, Sample};

use crate::Pipeline;
use crate::runtime::Service;
use crate::settings::ms;
use crate::store;

/// A difference between this machine's clock and the database's that raises an alarm.
const DIFFERS_MS: i64 = 5_000;
/// Between two samples of the database's clock.
const EVERY: Duration = Duration::from_secs(3);
/// Between two samples while a jump is in doubt, and of this machine's own clock, which costs nothing to read.
const OFTEN: Duration = Duration::from_secs(1);

pub struct FollowClock {
    pipeline: Arc<Pipeline>,
    doubt: Mutex<Doubt>,
}

#[derive(Default)]
struct Doubt {
    /// When it began, on the monotonic clock.
    since: Option<Duration>,
    alarmed: bool,
    /// An alarm was raised because this machine's clock differs.
    differs: bool,
    /// How long the machine had been suspended in all when its time was last certain.
    suspended: Duration,
}

impl FollowClock {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        let suspended = pipeline.clock.suspended();
        Self { pipeline, doubt: Mutex::new(Doubt { suspended, ..Doubt::default() }) }
    }

    fn doubt<T>(&self, change: impl FnOnce(&mut Doubt) -> T) -> T {
        change(&mut self.doubt.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The clock that counts has said this, and was asked then. Answers when to ask again.
    pub async fn heard(&self, said: Millis, asked: Duration) -> Duration {
        let pipeline = &self.pipeline;
        let here = pipeline.clock.now();
        let by = said - here;
        pipeline.metrics.clock_difference.set(by as f64 / 1000.0);
        let sample = Sample {
            db_now: said,
            before: asked,
            after: pipeline.clock.monotonic(),
            confirmed: self.is_confirmed(said, by).await,
        };
        let observed = pipeline.clock.observe(sample);
        if let Observed::Stepped { by } = observed {
            self.follow_step(here, by).await;
        }
        let held = matches!(observed, Observed::Held { .. });
        pipeline.clock_in_doubt.store(held, Ordering::Relaxed);
        match observed {
            Observed::Held { samples } => {
                self.is_in_doubt(samples, by, asked).await;
                return OFTEN;
            }
            Observed::Slewed { .. } | Observed::Stepped { .. } => self.is_certain(said).await,
        }
        match pipeline.store.is_exclusive() {
            true => OFTEN,
            false => EVERY,
        }
    }

    /// Does another clock say the same? Asked only when it matters. On SQLite there is none that counts.
    async fn is_confirmed(&self, said: Millis, by: i64) -> bool {
        let agrees = |other: Option<Millis>| other.is_some_and(|now| (now - said).abs() <= AGREE_MS);
        by.abs() > DIFFERS_MS
            && (self.pipeline.store.is_exclusive()
                || agrees(self.pipeline.clock.wall())
                || agrees(self.pipeline.leases.now().await))
    }

    /// A confirmed step was taken. Before anything is claimed or sent by the new time, the leases of executors follow it.
    async fn follow_step(&self, before: Millis, by: i64) {
        let pipeline = &self.pipeline;
        // Forward: an executor that was live a moment ago has a full lease to send its next heartbeat.
        pipeline.heard();
        // Backward: a lease must not last for the step besides. Every node may say so, it changes nothing the second time.
        let now = pipeline.clock.now();
        if by < 0
            && let Err(error) = pipeline.store.seen_at_the_latest(now).await
        {
            tracing::warn!(%error, "leases of executors lie ahead of the clock until their next heartbeat");
        }
        tracing::warn!(clock.before = before, clock.now = now, step_ms = by, "the clock has jumped");
        self.alarm(self.step_text(by)).await;
    }

    fn step_text(&self, by: i64) -> String {
        let seconds = by as f64 / 1000.0;
        let slept = ms(self.slept());
        if !self.pipeline.store.is_exclusive() {
            return format!("the database's clock has jumped by {seconds} s, and is followed");
        }
        if slept > AGREE_MS && (slept - by).abs() <= AGREE_MS {
            return format!("this machine was suspended for {seconds} s; its clock is followed");
        }
        let waits = match by < 0 {
            true => ": nothing is repeated, so schedules wait until the time before is reached",
            false => "",
        };
        format!("this machine's clock has jumped by {seconds} s, and is followed{waits}")
    }

    /// How long this machine has been suspended since its time was last certain.
    fn slept(&self) -> Duration {
        let suspended = self.pipeline.clock.suspended();
        suspended.saturating_sub(self.doubt(|doubt| doubt.suspended))
    }

    fn whose(&self) -> &'static str {
        match self.pipeline.store.is_exclusive() {
            true => "this machine's clock",
            false => "the database's clock",
        }
    }

    async fn is_in_doubt(&self, samples: u32, by: i64, asked: Duration) {
        let pipeline = &self.pipeline;
        tracing::warn!(
            clock.samples = samples,
            step_ms = by,
            suspended_ms = ms(self.slept()),
            "{} has jumped; nothing is claimed or sent until that is confirmed",
            self.whose()
        );
        let ttl = pipeline.settings.ttl;
        // This machine may have slept: its monotonic clock did not count that, and its leases are over.
        if samples == 1 && by.abs() > ms(ttl) {
            pipeline.close();
        }
        let since = self.doubt(|doubt| *doubt.since.get_or_insert(asked));
        let is_over = asked - since > ttl;
        if (samples >= 3 || is_over) && !self.doubt(|doubt| std::mem::replace(&mut doubt.alarmed, true)) {
            self.alarm(self.doubt_text(by)).await;
        }
        if is_over && !pipeline.clock_is_lost.swap(true, Ordering::Relaxed) {
            tracing::error!("no clock could be made out for the time of a lease: this node works nothing");
            pipeline.close();
        }
    }

    fn doubt_text(&self, by: i64) -> String {
        let (seconds, node) = (by as f64 / 1000.0, &self.pipeline.node);
        match self.pipeline.store.is_exclusive() {
            true => format!(
                "this machine's clock jumps again and again, the last time by {seconds} s: nothing is claimed or sent before \
                 three readings, a second apart, agree"
            ),
            false => format!(
                "clocks differ: the database's clock has jumped by {seconds} s, and no other clock of node {node} agrees with it"
            ),
        }
    }

    async fn is_certain(&self, said: Millis) {
        let pipeline = &self.pipeline;
        pipeline.clock_is_lost.store(false, Ordering::Relaxed);
        let by = pipeline.clock.wall().map_or(0, |wall| wall - said);
        let differs = by.abs() > DIFFERS_MS;
        let suspended = pipeline.clock.suspended();
        let news = self.doubt(|doubt| {
            (doubt.since, doubt.alarmed) = (None, false);
            doubt.suspended = suspended;
            differs && !std::mem::replace(&mut doubt.differs, differs)
        });
        if news {
            let text = format!(
                "clocks differ: this machine's is {} s ahead of the database's, which counts (node {})",
                by as f64 / 1000.0,
                pipeline.node
            );
            self.alarm(text).await;
        } else if !differs {
            self.doubt(|doubt| doubt.differs = false);
        }
    }

    async fn alarm(&self, text: String) {
        let raised = self.pipeline.raise_alarm(AlarmKind::Clock, None, None, &*text);
        if let Err(error) = raised.await {
            tracing::error!(%error, "an alarm could not be stored: {text}");
        }
    }
}

impl Pipeline {
    /// What the clock that counts says now: the database's, or on SQLite this machine's. None: the node follows no clock.
    pub(crate) async fn counting_clock(&self) -> store::Result<Option<Millis>> {
        match self.store.is_exclusive() {
            true => Ok(self.clock.wall()),
            false => self.store.database_now().await,
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
        match self.pipeline.counting_clock().await {
            Ok(Some(said)) => return self.heard(said, asked).await,
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "the database's clock could not be read"),
        }
        EVERY
    }
}
