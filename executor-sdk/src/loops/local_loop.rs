//! One loop: it waits for the next instant and calls the handler, one call at a time.

use std::sync::Arc;

use carillon_protocol::{CallbackItem, GLUE_BEAN, LoopGrant, LoopHistory, LoopReport, LoopTiming, RunRequest};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::admin_clock::AdminClock;
use super::instants::{due, next_after};
use super::permission::Permission;
use super::record::Record;
use crate::context::JobContext;
use crate::handler::BoxedHandler;
use crate::job_log::RunLog;
use crate::lane::execute;
use crate::run::{Run, RunMeta};

/// The last instant is this much ahead of an answer only if the admin's clock went back.
const STEPPED_MS: i64 = 5_000;

/// What loops share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) clock: Arc<Mutex<AdminClock>>,
    /// Where handlers are called.
    pub(super) calls: Handle,
    /// Ends all calls at once, as a crash would.
    pub(super) aborted: CancellationToken,
}

/// Of a job: its calls begin one after the other, also those of several grants.
pub(super) struct Turn {
    free: Arc<Semaphore>,
    /// The call that is going on, also of a loop that was stopped.
    running: Mutex<Option<Arc<Run>>>,
}

impl Turn {
    pub(super) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(1)), running: Mutex::default() }
    }

    /// Waits until no call is going on.
    pub(super) async fn call_ended(&self) {
        let _ = self.free.acquire().await;
    }

    /// Cancels the call that is going on.
    pub(super) fn cancel_call(&self, reason: &str) {
        if let Some(run) = &*self.running.lock() {
            run.cancel(reason);
        }
    }
}

pub(super) struct LocalLoop {
    grant: LoopGrant,
    handler: Arc<dyn BoxedHandler>,
    /// Also taken by a call of an earlier grant that goes on.
    turn: Arc<Turn>,
    shared: Shared,
    state: Mutex<State>,
    /// What the wait depends on has changed.
    changed: Notify,
    /// No call begins after this. Cancelled with the state locked.
    ended: CancellationToken,
}

#[derive(Default)]
struct State {
    permission: Option<Permission>,
    /// `None` before the first renewal.
    timing: Option<LoopTiming>,
    /// The last instant that was called or skipped, in the admin's time; where the timing is a delay, the end of the last call.
    last: i64,
    record: Record,
}

impl State {
    fn allows_calls(&self) -> bool {
        self.permission.is_some_and(|permission| permission.allows_calls())
    }

    fn is_delay(&self) -> bool {
        matches!(self.timing, Some(LoopTiming::Delay { .. }))
    }
}

impl LocalLoop {
    pub(super) fn new(grant: LoopGrant, handler: Arc<dyn BoxedHandler>, turn: Arc<Turn>, shared: Shared) -> Self {
        let (state, changed, ended) = (Mutex::default(), Notify::new(), CancellationToken::new());
        Self { grant, handler, turn, shared, state, changed, ended }
    }

    pub(super) fn epoch(&self) -> i64 {
        self.grant.epoch
    }

    /// Calls the handler at each instant until the end of the loop.
    pub(super) async fn run(self: Arc<Self>) {
        loop {
            let next = self.next_moment();
            tokio::select! {
                biased;
                () = self.ended.cancelled() => return,
                () = self.changed.notified() => {}
                () = wait_until(next) => {
                    if let Some((instant, turn)) = self.take_due() {
                        self.shared.calls.spawn(Arc::clone(&self).call(instant, turn));
                    }
                }
            }
        }
    }

    /// When the next instant comes; `None`: that is not known.
    fn next_moment(&self) -> Option<Instant> {
        let state = self.state.lock();
        // The end of the call says when the next one is due, and wakes this.
        if state.is_delay() && self.turn.free.available_permits() == 0 {
            return None;
        }
        let instant = next_after(state.timing.as_ref()?, state.last)?;
        self.shared.clock.lock().moment_of(instant)
    }

    /// The instant that has come, if its call may begin. Others that have come are skipped.
    fn take_due(&self) -> Option<(i64, OwnedSemaphorePermit)> {
        let mut state = self.state.lock();
        let now = self.shared.clock.lock().at(Instant::now())?.div_euclid(1_000);
        let due = due(state.timing.as_ref()?, state.last, now)?;
        state.last = due.latest;
        state.record.counters.skipped += due.passed;
        let turn = Arc::clone(&self.turn.free).try_acquire_owned().ok().filter(|_| state.allows_calls());
        if turn.is_none() {
            state.record.counters.skipped += 1;
        }
        Some((due.latest, turn?))
    }

    async fn call(self: Arc<Self>, instant: i64, turn: OwnedSemaphorePermit) {
        if let Some((run, late_us)) = self.start(instant) {
            let started = Instant::now();
            let ctx = JobContext::new(Arc::clone(&run), RunLog::to_events(&run.request));
            tokio::select! {
                biased;
                result = execute(&run, &*self.handler, ctx) => {
                    self.finish(instant, late_us, micros(started), result);
                }
                () = self.shared.aborted.cancelled() => {}
            }
        }
        drop(turn);
        self.changed.notify_one();
    }

    /// The run of a call, and by how many µs it is late. Whether it is allowed is asked here, as late as can be: the runtime of the
    /// handlers may have been held up.
    fn start(&self, instant: i64) -> Option<(Arc<Run>, u64)> {
        let mut state = self.state.lock();
        if self.ended.is_cancelled() || !state.allows_calls() {
            state.record.counters.skipped += 1;
            return None;
        }
        let now = self.shared.clock.lock().at(Instant::now()).unwrap_or_default();
        let late_us = u64::try_from(now.saturating_sub(instant.saturating_mul(1_000))).unwrap_or(0);
        state.record.start(instant, late_us);
        let run = Arc::new(self.run_at(instant));
        *self.turn.running.lock() = Some(Arc::clone(&run));
        Some((run, late_us))
    }

    fn run_at(&self, instant: i64) -> Run {
        let LoopGrant { job_id, epoch, handler, params, timeout_seconds } = self.grant.clone();
        let meta = RunMeta {
            fire_key: Some(format!("{job_id}:loop:{epoch}:{instant}")),
            scheduled_at: Some(instant),
            attempt: 1,
            ..RunMeta::default()
        };
        let request = RunRequest {
            job_id,
            handler,
            params,
            timeout_seconds,
            log_date_time: instant,
            glue_type: GLUE_BEAN.to_owned(),
            broadcast_total: 1,
            ..RunRequest::default()
        };
        Run::new(request, meta)
    }

    fn finish(&self, instant: i64, late_us: u64, took_us: u64, result: CallbackItem) {
        let mut state = self.state.lock();
        *self.turn.running.lock() = None;
        state.record.end(instant, late_us, took_us, result);
        if state.is_delay()
            && let Some(now) = self.shared.clock.lock().at(Instant::now())
        {
            state.last = now.div_euclid(1_000);
        }
    }

    /// The lease was renewed. The first time, the instants after `admin_now` are those of the loop; and so after a step back of the admin's clock,
    /// or it would stand still until its time has come again.
    pub(super) fn renewed(&self, permission: Permission, timing: LoopTiming, admin_now: i64) {
        let mut state = self.state.lock();
        if state.timing.is_none() || state.last > admin_now.saturating_add(STEPPED_MS) {
            state.last = admin_now;
        }
        state.permission = Some(permission);
        state.timing = Some(timing);
        self.changed.notify_one();
    }

    /// No call begins after this. One that is going on ends by itself.
    pub(super) fn end(&self) {
        let _state = self.state.lock();
        self.ended.cancel();
    }

    pub(super) fn report(&self) -> LoopReport {
        let state = self.state.lock();
        LoopReport {
            job_id: self.grant.job_id,
            epoch: self.grant.epoch,
            counters: state.record.counters.clone(),
            last_fired_at: state.record.last_fired_at,
            last_failure: state.record.last_failure(),
            ends: self.ended.is_cancelled(),
        }
    }

    pub(super) fn history(&self) -> LoopHistory {
        self.state.lock().record.history()
    }
}

async fn wait_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
