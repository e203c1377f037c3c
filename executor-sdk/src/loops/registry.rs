//! The loops of this executor, by job, and what is said about them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::{LoopGrant, LoopHistory, LoopRenewals, LoopReport, LoopTiming, headers};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::admin_clock::AdminClock;
use super::local_loop::{LocalLoop, Shared, Turn};
use super::permission::{Permission, SentAt};
use crate::handler::BoxedHandler;

/// How long a lease lasts before an admin has said so.
const LEASE: Duration = Duration::from_secs(5);

pub(crate) struct Loops {
    state: Mutex<State>,
    handlers: Arc<HashMap<String, Arc<dyn BoxedHandler>>>,
    /// Where the loops wait for their instants.
    timers: Handle,
    shared: Shared,
    /// A loop was added, which can call nothing before a renewal.
    pub(super) added: Notify,
}

struct State {
    loops: HashMap<i32, Arc<LocalLoop>>,
    /// One for each job that has a loop, or a call that goes on.
    turns: HashMap<i32, Arc<Turn>>,
    /// How long leases last.
    lease: Duration,
    /// Why new loops are refused, if they are.
    closed: Option<&'static str>,
}

impl Loops {
    /// Handlers are called in `calls`; the loops wait in the runtime of the caller.
    pub(crate) fn new(handlers: Arc<HashMap<String, Arc<dyn BoxedHandler>>>, calls: Handle) -> Self {
        let state = State { loops: HashMap::new(), turns: HashMap::new(), lease: LEASE, closed: None };
        let clock = Arc::new(Mutex::new(AdminClock::new()));
        Self {
            state: Mutex::new(state),
            handlers,
            timers: Handle::current(),
            shared: Shared { clock, calls, aborted: CancellationToken::new() },
            added: Notify::new(),
        }
    }

    /// Takes a loop, in the place of an earlier one of the job.
    ///
    /// # Errors
    /// Why it is refused.
    pub(crate) fn start(&self, grant: LoopGrant) -> Result<(), String> {
        let handler = self.handler(&grant.handler)?;
        let mut state = self.state.lock();
        if let Some(reason) = state.closed {
            return Err(reason.to_owned());
        }
        if let Some(known) = state.loops.get(&grant.job_id) {
            if known.epoch() == grant.epoch {
                return Ok(());
            }
            if known.epoch() > grant.epoch {
                return Err(format!("the loop of this job is here under the later epoch {}", known.epoch()));
            }
            known.end();
        }
        // Those that nothing else holds have no call.
        state.turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        let turn = state.turns.entry(grant.job_id).or_insert_with(|| Arc::new(Turn::new()));
        let turn = Arc::clone(turn);
        tracing::info!(job.id = grant.job_id, lease.epoch = grant.epoch, "a loop was granted");
        let job_id = grant.job_id;
        let new = Arc::new(LocalLoop::new(grant, handler, turn, self.shared.clone()));
        self.timers.spawn(Arc::clone(&new).run());
        state.loops.insert(job_id, new);
        self.added.notify_one();
        Ok(())
    }

    fn handler(&self, name: &str) -> Result<Arc<dyn BoxedHandler>, String> {
        let handler = self.handlers.get(name).cloned().ok_or_else(|| format!("job handler [{name}] not found."))?;
        match handler.refuses_phase(headers::PHASE_ITEMS) {
            Some(_) => Ok(handler),
            None => Err(format!("job handler [{name}] divides its work into items, which a loop cannot")),
        }
    }

    /// Ends the loop of a job, unless it is of a later epoch. Its last report; `None`: there is no such loop.
    pub(crate) fn stop(&self, job_id: i32, epoch: i64) -> Option<LoopReport> {
        let mut state = self.state.lock();
        let known = state.loops.get(&job_id).filter(|known| known.epoch() <= epoch).cloned()?;
        state.loops.remove(&job_id);
        known.end();
        tracing::info!(job.id = job_id, lease.epoch = known.epoch(), "a loop was stopped");
        Some(known.report())
    }

    /// The last calls of a loop.
    pub(crate) fn history(&self, job_id: i32) -> Option<LoopHistory> {
        let known = self.state.lock().loops.get(&job_id).cloned();
        known.map(|known| known.history())
    }

    pub(super) fn lease(&self) -> Duration {
        self.state.lock().lease
    }

    /// Of the loops that may be renewed: those that have ended here are given back by the shutdown alone, after their calls.
    pub(super) fn renewable(&self) -> Vec<LoopReport> {
        self.reports().into_iter().filter(|report| !report.ends).collect()
    }

    pub(super) fn reports(&self) -> Vec<LoopReport> {
        let known: Vec<Arc<LocalLoop>> = self.state.lock().loops.values().cloned().collect();
        known.iter().map(|known| known.report()).collect()
    }

    /// An admin has answered the reports, which were sent then: loops that it does not name are over.
    pub(super) fn apply(&self, sent: SentAt, reports: &[LoopReport], answer: LoopRenewals) {
        self.shared.clock.lock().learn(answer.now, sent.monotonic(), Instant::now());
        let lease = Duration::from_millis(answer.lease_ms.into());
        let permission = Permission::new(sent, lease);
        let timings: HashMap<(i32, i64), LoopTiming> =
            answer.loops.into_iter().map(|renewed| ((renewed.job_id, renewed.epoch), renewed.timing)).collect();
        let mut state = self.state.lock();
        state.lease = lease;
        for report in reports {
            let key = (report.job_id, report.epoch);
            let Some(known) = state.loops.get(&report.job_id).filter(|known| known.epoch() == report.epoch) else {
                continue;
            };
            match timings.get(&key) {
                Some(timing) => known.renewed(permission, timing.clone(), answer.now),
                None => {
                    tracing::info!(job.id = report.job_id, lease.epoch = report.epoch, "the lease of a loop is over");
                    known.end();
                    state.loops.remove(&report.job_id);
                }
            }
        }
    }

    /// Refuses new loops and ends all; they stay here until they are given back.
    pub(crate) fn close(&self, reason: &'static str) {
        let mut state = self.state.lock();
        state.closed = Some(reason);
        for known in state.loops.values() {
            known.end();
        }
    }

    /// Waits until no call is going on.
    pub(crate) async fn calls_ended(&self) {
        let turns: Vec<Arc<Turn>> = self.state.lock().turns.values().cloned().collect();
        for turn in turns {
            turn.call_ended().await;
        }
    }

    /// Cancels the calls that are going on, also those of loops that were stopped.
    pub(crate) fn cancel_calls(&self, reason: &str) {
        for turn in self.state.lock().turns.values() {
            turn.cancel_call(reason);
        }
    }

    /// Ends all loops and drops their calls, as a crash would.
    pub(crate) fn abort(&self) {
        self.close("the executor is stopping");
        self.shared.aborted.cancel();
    }
}
