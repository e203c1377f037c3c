//! Runs of HTTP jobs: one request to the URL of the job, whose answer ends the run.

use std::sync::Arc;

use crate::dispatch::send_task::{Attempted, SendTask};
use crate::executor::address::gate::AddressGate;
use crate::executor::http::{HttpOutcome, HttpRun};
use crate::executor::outcome::Outcome;
use crate::executor::request::{filled_params, own_params};
use carillon_scheduler::HttpDraft;
use carillon_store::db::failpoint;
use carillon_store::run::settle::finding::AcceptedRun;

impl SendTask {
    pub fn is_http(&self) -> bool {
        self.marked.routed.decision.job.http.is_some()
    }

    /// Sends the request and reports its outcome. The caller has a slot, and the mark is committed.
    pub async fn send_http(&self, draft: &HttpDraft, gate: &Arc<AddressGate>) -> Attempted {
        let (routed, cx) = (&self.marked.routed, &self.sender.cx);
        let (run, job) = (&routed.run, &routed.decision.job);
        let sent_at = cx.clock.now();
        let under_way = self.sender.outcomes.in_flight.begin(run.run_id, sent_at);
        cx.metrics.in_flight.inc();
        self.sender.observe_departure(run, job, sent_at);
        let params = filled_params(run, job, self.marked.params.clone(), || own_params(job));
        failpoint::hit_when_written("after_request_written");
        let send_until = self.marked.stamp.asked + cx.settings.send_limit;
        let outcome = Box::pin(self.sender.http.send(cx, HttpRun { run, job, draft, params, send_until })).await;
        failpoint::hit("after_answer_read");
        cx.metrics.in_flight.dec();
        let for_gate = outcome.for_gate();
        if !matches!(outcome, HttpOutcome::NotSent(_) | HttpOutcome::PutOff(_)) {
            self.sender.observe_start(run, job, sent_at);
        }
        if gate.record_outcome(&for_gate, cx.clock.monotonic(), cx.settings.breaker) {
            let address = &routed.candidates[0].address;
            tracing::warn!(executor.address = address, send.outcome = ?for_gate, "the service is left alone for a while");
        }
        cx.metrics.sends.with_label_values(&[for_gate.name()]).inc();
        let result = match outcome {
            // The row stays as it is: the resolver sends the request again.
            HttpOutcome::Unknown(why) if draft.idempotent => {
                tracing::info!(run.id = run.run_id, reason = why, "a request without an answer is sent again");
                Attempted::Done
            }
            outcome => self.conclude_http(outcome, sent_at),
        };
        // Only now: what is reported is known here before the request counts as ended.
        under_way.end();
        result
    }

    fn conclude_http(&self, outcome: HttpOutcome, sent_at: i64) -> Attempted {
        match outcome {
            HttpOutcome::PutOff(why) | HttpOutcome::NotSent(Outcome::NotSent { why }) => {
                return self.put_off(why, false);
            }
            HttpOutcome::NotSent(outcome) => return Attempted::TryNext(outcome.into_reason()),
            _ => {}
        }
        let run_id = self.marked.routed.run.run_id;
        if outcome == HttpOutcome::Awaited {
            self.sender.outcomes.accepted(AcceptedRun::sent(run_id, sent_at), self.sender.cx.clock.monotonic());
        }
        if let Some(mut report) = outcome.into_report(run_id) {
            report.sent_at = Some(sent_at);
            self.sender.outcomes.enqueue_internal(report);
        }
        Attempted::Done
    }

    /// Nothing was written: the run goes back as long as its job lets it be late. `has_room_later`: the service is busy, and a run to which a
    /// slot was refused before waits on.
    pub fn put_off(&self, why: String, has_room_later: bool) -> Attempted {
        let routed = &self.marked.routed;
        let begun = routed.turn.map_or(routed.run.due_at, |turn| turn.at.max(routed.run.due_at));
        let threshold = routed.decision.job.stored.misfire_threshold_ms;
        let is_on_time = self.sender.cx.clock.now() < begun + threshold;
        let is_patient = routed.turn.is_some_and(|turn| turn.has_waited);
        let may_still_wait = is_on_time || has_room_later && is_patient;
        if may_still_wait { Attempted::Unsent } else { Attempted::TryNext(why) }
    }
}
