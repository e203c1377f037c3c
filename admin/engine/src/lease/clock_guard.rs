//! Keeps this node's clock on the one that counts: the database's, so that all nodes agree with each other; on SQLite, which
//! has no clock and one node, this machine's.
//!
//! A jump is not taken at once: nothing is claimed or marked until three samples agree, and on a database server another
//! clock with them, this machine's or Redis'. Without such a witness the node goes on by its own reckoning for the time of
//! a lease, and then works nothing until the clocks are put right. On SQLite no other clock counts: three samples of
//! this machine's clock, a second apart, are enough. Refusing them would leave the node on a wrong time until its restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carillon_scheduler::clock::AGREE_MS;
use carillon_scheduler::{AlarmKind, Millis, Observed, Sample};
use parking_lot::Mutex;

use crate::context::Context;
use crate::executor::directory::ExecutorDirectory;
use crate::lease::held_shards::HeldShards;
use crate::lease::lock::ShardLock;
use crate::loops::lease::LOOP_LEASE;
use crate::runtime::{Service, Step};
use crate::settings::ms;
use carillon_store as store;

/// A difference between this machine's clock and the database's that raises an alarm.
const DIFFERS_MS: i64 = 5_000;
/// Between two samples of the database's clock.
const EVERY: Duration = Duration::from_secs(3);
/// Between two samples while a jump is in doubt, and of this machine's own clock, which costs nothing to read.
const OFTEN: Duration = Duration::from_secs(1);

pub struct ClockGuard {
    cx: Arc<Context>,
    held: Arc<HeldShards>,
    /// Redis has a clock too.
    lock: Arc<ShardLock>,
    directory: Arc<ExecutorDirectory>,
    /// The clock that counts has jumped, and that is not confirmed yet: nothing is claimed or marked.
    is_suspect: AtomicBool,
    /// That has lasted for the time of a lease: this node works nothing.
    has_failed: AtomicBool,
    suspicion: Mutex<StepSuspicion>,
    /// When the last step forward was followed, on the monotonic clock.
    stepped: Mutex<Option<Duration>>,
}

#[derive(Default)]
struct StepSuspicion {
    /// When it began, on the monotonic clock.
    since: Option<Duration>,
    alarmed: bool,
    /// An alarm was raised because this machine's clock differs.
    differs: bool,
    /// How long the machine had been suspended in all when its time was last certain.
    suspended: Duration,
}

impl ClockGuard {
    pub fn new(
        cx: Arc<Context>,
        held: Arc<HeldShards>,
        lock: Arc<ShardLock>,
        directory: Arc<ExecutorDirectory>,
    ) -> Self {
        let suspended = cx.clock.suspended();
        Self {
            cx,
            held,
            lock,
            directory,
            is_suspect: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            suspicion: Mutex::new(StepSuspicion { suspended, ..StepSuspicion::default() }),
            stepped: Mutex::default(),
        }
    }

    pub fn is_suspect(&self) -> bool {
        self.is_suspect.load(Ordering::Relaxed)
    }

    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Whether a step forward was followed in this time: what has ended since by the clock may go on for as long.
    pub fn has_stepped_within(&self, time: Duration) -> bool {
        self.stepped.lock().is_some_and(|at| self.cx.clock.monotonic() < at + time)
    }

    /// What the clock that counts says now: the database's, or on SQLite this machine's. None: the node follows no clock.
    pub async fn read(&self) -> store::Result<Option<Millis>> {
        match self.cx.store.is_exclusive() {
            true => Ok(self.cx.clock.wall()),
            false => self.cx.store.leases().database_now().await,
        }
    }

    /// Before anything is decided by it: this host's own clock may be hours away.
    pub async fn begin(&self) -> store::Result<()> {
        let before = self.cx.clock.monotonic();
        if let Some(db_now) = self.read().await? {
            self.cx.clock.observe(Sample { db_now, before, after: self.cx.clock.monotonic(), confirmed: false });
        }
        Ok(())
    }

    /// The clock that counts has said this, and was asked then. Answers when to ask again.
    pub async fn observe(&self, said: Millis, asked: Duration) -> Duration {
        let here = self.cx.clock.now();
        let by = said - here;
        self.cx.metrics.clock_difference.set(by as f64 / 1000.0);
        let sample = Sample {
            db_now: said,
            before: asked,
            after: self.cx.clock.monotonic(),
            confirmed: self.is_confirmed(said, by).await,
        };
        let observed = self.cx.clock.observe(sample);
        if let Observed::Stepped { by } = observed {
            self.follow_step(here, by).await;
        }
        let held = matches!(observed, Observed::Held { .. });
        self.is_suspect.store(held, Ordering::Relaxed);
        match observed {
            Observed::Held { samples } => {
                self.is_in_doubt(samples, by, asked).await;
                return OFTEN;
            }
            Observed::Slewed { .. } | Observed::Stepped { .. } => self.is_certain(said).await,
        }
        match self.cx.store.is_exclusive() {
            true => OFTEN,
            false => EVERY,
        }
    }

    /// Does another clock say the same? Asked only when it matters. On SQLite there is none that counts.
    async fn is_confirmed(&self, said: Millis, by: i64) -> bool {
        let agrees = |other: Option<Millis>| other.is_some_and(|now| (now - said).abs() <= AGREE_MS);
        by.abs() > DIFFERS_MS
            && (self.cx.store.is_exclusive() || agrees(self.cx.clock.wall()) || agrees(self.lock.now().await))
    }

    /// A confirmed step was taken. Before anything is claimed or sent by the new time, the leases of executors follow it.
    async fn follow_step(&self, before: Millis, by: i64) {
        // Forward: an executor that was live a moment ago has a full lease to send its next heartbeat.
        self.directory.record_read();
        if by > 0 {
            *self.stepped.lock() = Some(self.cx.clock.monotonic());
        }
        // Backward: a lease must not last for the step besides. Every node may say so, it changes nothing the second time.
        let now = self.cx.clock.now();
        if by < 0
            && let Err(error) = self.cx.store.apps().seen_at_the_latest(now).await
        {
            tracing::warn!(%error, "leases of executors lie ahead of the clock until their next heartbeat");
        }
        if by < 0
            && let Err(error) = self.cx.store.loops().end_at_the_latest(now, ms(LOOP_LEASE)).await
        {
            tracing::warn!(%error, "leases of loops lie ahead of the clock until they are renewed");
        }
        tracing::warn!(clock.before = before, clock.now = now, step_ms = by, "the clock has jumped");
        self.cx.raise_alarm(AlarmKind::Clock, None, None, self.step_text(by)).await;
    }

    fn step_text(&self, by: i64) -> String {
        let seconds = by as f64 / 1000.0;
        let slept = ms(self.slept());
        if !self.cx.store.is_exclusive() {
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
        let suspended = self.cx.clock.suspended();
        suspended.saturating_sub(self.suspicion.lock().suspended)
    }

    fn whose(&self) -> &'static str {
        match self.cx.store.is_exclusive() {
            true => "this machine's clock",
            false => "the database's clock",
        }
    }

    async fn is_in_doubt(&self, samples: u32, by: i64, asked: Duration) {
        tracing::warn!(
            clock.samples = samples,
            step_ms = by,
            suspended_ms = ms(self.slept()),
            "{} has jumped; nothing is claimed or sent until that is confirmed",
            self.whose()
        );
        let ttl = self.cx.settings.lease_ttl;
        // This machine may have slept: its monotonic clock did not count that, and its leases are over.
        if samples == 1 && by.abs() > ms(ttl) {
            self.held.close();
        }
        let since = *self.suspicion.lock().since.get_or_insert(asked);
        let is_over = asked - since > ttl;
        if (samples >= 3 || is_over) && !std::mem::replace(&mut self.suspicion.lock().alarmed, true) {
            self.cx.raise_alarm(AlarmKind::Clock, None, None, self.doubt_text(by)).await;
        }
        if is_over && !self.has_failed.swap(true, Ordering::Relaxed) {
            tracing::error!("no clock could be made out for the time of a lease: this node works nothing");
            self.held.close();
        }
    }

    fn doubt_text(&self, by: i64) -> String {
        let (seconds, node) = (by as f64 / 1000.0, &self.cx.node);
        match self.cx.store.is_exclusive() {
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
        self.has_failed.store(false, Ordering::Relaxed);
        let by = self.cx.clock.wall().map_or(0, |wall| wall - said);
        let differs = by.abs() > DIFFERS_MS;
        let suspended = self.cx.clock.suspended();
        let is_news = {
            let mut suspicion = self.suspicion.lock();
            (suspicion.since, suspicion.alarmed, suspicion.suspended) = (None, false, suspended);
            differs && !std::mem::replace(&mut suspicion.differs, differs)
        };
        if is_news {
            let text = format!(
                "clocks differ: this machine's is {} s ahead of the database's, which counts (node {})",
                by as f64 / 1000.0,
                self.cx.node
            );
            self.cx.raise_alarm(AlarmKind::Clock, None, None, text).await;
        } else if !differs {
            self.suspicion.lock().differs = false;
        }
    }
}

impl Service for ClockGuard {
    const NAME: &'static str = "clock";
    type Report = ();

    async fn step(&self) -> Step {
        let asked = self.cx.clock.monotonic();
        let next = match self.read().await {
            Ok(Some(said)) => self.observe(said, asked).await,
            Ok(None) => EVERY,
            Err(error) => {
                tracing::debug!(%error, "the database's clock could not be read");
                EVERY
            }
        };
        Step::after(next)
    }
}
