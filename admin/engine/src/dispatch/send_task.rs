//! One request for one marked run, and what its outcome leads to.

use std::sync::Arc;

use carillon_protocol::EXPIRED;
use carillon_scheduler::{Millis, RunEvent, RunReason};
use tokio_util::task::TaskTracker;

use crate::complete::in_flight::SendInFlight;
use crate::complete::outcome_queue::OutcomeQueue;
use crate::context::Context;
use crate::dispatch::departures::Departures;
use crate::dispatch::send::observed_starts::ObservedStarts;
use crate::dispatch::stages::{MarkStamp, MarkedRun, place_of};
use crate::dispatch::trace::TraceBuffer;
use crate::executor::address::gate::{AddressGate, Reservation, WaitAborted};
use crate::executor::address::pool::AddressPool;
use crate::executor::client::ExecutorClient;
use crate::executor::http::HttpSender;
use crate::executor::outcome::Outcome;
use crate::executor::request::{BodyParts, body, headers, traceparent};
use crate::settings::ms;
use carillon_store::db::failpoint;
use carillon_store::run::settle::finding::{AcceptedRun, RunReport};

/// What requests are sent with.
pub struct Sender {
    pub cx: Arc<Context>,
    pub client: Arc<ExecutorClient>,
    pub http: Arc<HttpSender>,
    pub addresses: Arc<AddressPool>,
    pub outcomes: Arc<OutcomeQueue>,
    pub traces: Arc<TraceBuffer>,
    pub departures: Arc<Departures>,
    pub starts: Arc<ObservedStarts>,
    /// Requests under way or waiting for their second.
    pub tasks: TaskTracker,
}

pub(in crate::dispatch) struct SendTask {
    pub sender: Arc<Sender>,
    pub marked: MarkedRun,
}

/// After this an executor refuses the run.
pub(in crate::dispatch) fn not_after(stamp: &MarkStamp, cx: &Context) -> Millis {
    stamp.marked_at + 2 * ms(cx.settings.send_limit)
}

/// What happened at one address.
pub(in crate::dispatch) enum Attempted {
    Done,
    /// Nothing was written: the next candidate may have it.
    TryNext(String),
    /// No room there now, and nothing was written either; unlike an address that is gone it may have room again soon.
    Saturated,
    /// Marked too long ago, or the address closed while it waited.
    Unsent,
}

/// What the candidates did that were tried so far.
#[derive(Default)]
struct Tried {
    why: Vec<String>,
    is_any_busy: bool,
}

impl SendTask {
    /// To the first candidate that takes it.
    pub async fn run(self) {
        self.run_from(0, Tried::default()).await;
    }

    /// To the first candidate; to the others by a task of its own, so that a hanging one does not hold up the runs that wait for
    /// the first.
    pub async fn run_first(self, gate: &Arc<AddressGate>) {
        let result = self.attempt(0, gate).await;
        self.after_first(result);
    }

    /// Tries the other candidates if the first did not take the run.
    pub fn after_first(self, result: Attempted) {
        if let Some((task, tried)) = self.after_attempt(0, result, Tried::default()) {
            let tasks = task.sender.tasks.clone();
            tasks.spawn(task.run_from(1, tried));
        }
    }

    /// The candidates from this one on.
    async fn run_from(self, first: usize, tried: Tried) {
        let (mut task, mut tried) = (self, tried);
        for index in first..task.marked.routed.candidates.len() {
            let result = task.attempt(index, &task.gate(index)).await;
            match task.after_attempt(index, result, tried) {
                Some(left) => (task, tried) = left,
                None => return,
            }
        }
        if tried.is_any_busy {
            return task.unmark();
        }
        task.store_trace();
        let run_id = task.marked.routed.run.run_id;
        let why = tried.why.join("; ");
        task.sender.outcomes.report_internal(run_id, RunEvent::NoExecutor, RunReason::NoExecutor, why);
    }

    /// None: the run is not for another candidate.
    fn after_attempt(mut self, index: usize, result: Attempted, mut tried: Tried) -> Option<(Self, Tried)> {
        match result {
            Attempted::TryNext(reason) => tried.why.push(self.failed(index, &reason)),
            Attempted::Saturated if !self.marked.routed.decision.has_affinity() => tried.is_any_busy = true,
            Attempted::Saturated | Attempted::Unsent => {
                self.unmark();
                return None;
            }
            Attempted::Done => {
                self.store_trace();
                return None;
            }
        }
        Some((self, tried))
    }

    /// The gate of a candidate.
    pub fn gate(&self, index: usize) -> Arc<AddressGate> {
        let candidate = &self.marked.routed.candidates[index];
        self.sender.addresses.get(&candidate.app, &candidate.address)
    }

    fn has_next(&self, index: usize) -> bool {
        index + 1 < self.marked.routed.candidates.len()
    }

    /// An executor behind this one may have it.
    pub fn has_fallback(&self, index: usize) -> bool {
        self.has_next(index) && !self.marked.routed.decision.has_affinity()
    }

    /// Notes why an address did not get the run.
    fn failed(&mut self, index: usize, reason: &str) -> String {
        let routed = &mut self.marked.routed;
        let address = &routed.candidates[index].address;
        routed.decision.failed_attempt(address, reason);
        format!("{address}: {reason}")
    }

    /// What the mark has not written already.
    pub fn store_trace(&self) {
        if let Some(trace) = &self.marked.routed.decision.trace {
            self.sender.traces.add(self.marked.routed.run.run_id, trace);
        }
    }

    pub fn unmark(self) {
        self.sender.outcomes.unsent.add(self.marked.routed.run, self.marked.stamp.token);
    }

    /// At one address: a slot, not too late, the address in the row, and the request.
    #[tracing::instrument(name = "send", level = "debug", skip_all, fields(
        run.id = self.marked.routed.run.run_id,
        job.id = self.marked.routed.run.job_id,
        shard = self.marked.routed.run.shard,
        lease.epoch = self.marked.routed.run.epoch,
        trace.id = traceparent(&self.sender.cx.cluster, &self.marked.routed.run).trace_id()
    ))]
    async fn attempt(&self, index: usize, address: &Arc<AddressGate>) -> Attempted {
        let routed = &self.marked.routed;
        let cx = &self.sender.cx;
        let candidate = &routed.candidates[index];
        let Some(later) = self.reserve_next(index, address) else {
            return Attempted::Saturated;
        };
        let probe = later.as_ref().unwrap_or(&routed.reservation).is_probe();
        let slot = address.slot(probe, self.has_fallback(index), &*cx.clock);
        // The answers of a service may take half an hour, and a row that says `sending` for long counts as sent.
        let slot = match self.is_http() {
            true => tokio::time::timeout(cx.settings.send_limit, slot).await,
            false => Ok(slot.await),
        };
        let slot = match slot {
            Ok(Ok(slot)) => slot,
            Ok(Err(WaitAborted::Stalled)) => return Attempted::Saturated,
            Ok(Err(WaitAborted::Closed)) => return Attempted::Unsent,
            Err(_) => return self.put_off("other requests of this node wait for its answer".to_owned(), true),
        };
        if self.is_stale() {
            return Attempted::Unsent;
        }
        // The database may take its time.
        if index > 0 && (!self.record_next_address(index).await || self.is_stale()) {
            return Attempted::Unsent;
        }
        if let Some(draft) = routed.decision.job.request() {
            return self.send_http(draft, address).await;
        }
        let (outcome, in_flight) = self.post(&candidate.address).await;
        address.record_latency(&slot, &outcome, cx.clock.monotonic());
        if address.record_outcome(&outcome, cx.clock.monotonic(), cx.settings.breaker) {
            tracing::warn!(executor.address = candidate.address, send.outcome = ?outcome, "the executor is left alone for a while");
        }
        self.classify(index, outcome, in_flight)
    }

    /// The first candidate counts this run since it was routed.
    fn reserve_next(&self, index: usize, address: &Arc<AddressGate>) -> Option<Option<Reservation>> {
        if index == 0 {
            return Some(None);
        }
        let cx = &self.sender.cx;
        let limit = self.marked.routed.candidates[index].capacity(&cx.settings);
        let place = place_of(&self.marked.routed.run, &self.marked.routed.decision.job);
        address.try_reserve(cx.clock.monotonic(), limit, place).ok().map(Some)
    }

    pub fn is_stale(&self) -> bool {
        let cx = &self.sender.cx;
        cx.clock.monotonic().saturating_sub(self.marked.stamp.asked) > cx.settings.send_limit
    }

    /// The address is in the row before a byte goes to it. False: the run is not ours to send any more, or its job was
    /// edited since its mark; nothing was written.
    async fn record_next_address(&self, index: usize) -> bool {
        let next = &self.marked.routed.candidates[index];
        let (run_id, token) = (self.marked.routed.run.run_id, self.marked.stamp.token);
        let (boot_id, journal_id) = (next.boot_id.as_deref(), next.journal_id.as_deref());
        let recorded =
            self.sender.cx.store.runs().redirect_run(run_id, token, &next.address, boot_id, journal_id).await;
        recorded.unwrap_or_else(|error| {
            tracing::warn!(%error, run.id = run_id, "the next executor could not be noted; the run goes back");
            false
        })
    }

    async fn post(&self, address: &str) -> (Outcome, Option<SendInFlight>) {
        let MarkedRun { routed, stamp, params, secret_params, script } = &self.marked;
        let (run, cx) = (&routed.run, &self.sender.cx);
        let sent_at = cx.clock.now();
        let under_way = self.sender.outcomes.in_flight.begin(run.run_id, sent_at);
        cx.metrics.in_flight.inc();
        self.sender.observe_departure(run, &routed.decision.job, sent_at);
        let (secret, script) = (secret_params.as_ref().map(|it| it.text.as_str()), script.as_deref());
        let request = body(run, &routed.decision.job, BodyParts { given: params.clone(), secret, script });
        let headers = headers(&cx.cluster, run, &routed.decision.job, not_after(stamp, cx));
        failpoint::hit_when_written("after_request_written");
        // Boxed: the client's future is large, and the task would be copied with it.
        let (outcome, received_at) = Box::pin(self.sender.client.run(address, &request, &headers)).await;
        failpoint::hit("after_answer_read");
        cx.metrics.in_flight.dec();
        if outcome.may_have_left() {
            self.sender.observe_start(run, &routed.decision.job, sent_at);
        }
        let outcome = self.without_secrets(outcome);
        (outcome, under_way.end().map(|it| SendInFlight { received_at, ..it }))
    }

    /// What its executor has answered, for people.
    pub fn without_secrets(&self, outcome: Outcome) -> Outcome {
        match &self.marked.secret_params {
            Some(params) => params.masked(outcome),
            None => outcome,
        }
    }

    /// The outcome at the candidate of this index.
    pub fn classify(&self, index: usize, outcome: Outcome, in_flight: Option<SendInFlight>) -> Attempted {
        let run_id = self.marked.routed.run.run_id;
        let (cx, outcomes) = (&self.sender.cx, &self.sender.outcomes);
        cx.metrics.sends.with_label_values(&[outcome.name()]).inc();
        match outcome {
            Outcome::Accepted => {
                if let Some(SendInFlight { sent_at, received_at, .. }) = in_flight.filter(|it| !it.settled) {
                    outcomes.accepted(AcceptedRun { run_id, sent_at, received_at }, cx.clock.monotonic());
                }
            }
            // Its clock is ahead: another executor's may be right.
            Outcome::Refused { message, .. } if message.starts_with(EXPIRED) && self.has_next(index) => {
                return Attempted::TryNext(message);
            }
            Outcome::Refused { code, message } => {
                let refused = RunReport::internal(run_id, RunEvent::Refused, RunReason::Refused, message);
                outcomes.enqueue_internal(RunReport {
                    code: Some(code),
                    sent_at: in_flight.map(|it| it.sent_at),
                    ..refused
                });
            }
            Outcome::NotSent { why } | Outcome::Withheld { why } => return Attempted::TryNext(why),
            // The row stays `sending`: a callback or the resolver settles it. It is never sent elsewhere blindly.
            Outcome::Unknown { why, .. } => {
                tracing::info!(run.id = run_id, reason = why, "the outcome of a request is unknown");
            }
        }
        Attempted::Done
    }
}
