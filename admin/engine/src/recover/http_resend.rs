//! The request of an HTTP job that has no answer, sent again: for services that do a request once, however often they get it.

use carillon_store as store;
use carillon_store::run::mark::HTTP_REQUEST;
use carillon_store::run::open::unanswered::{ResendPermit, UnansweredRun};
use carillon_store::run::settle::finding::AcceptedRun;

use crate::dispatch::given_params::given_params;
use crate::executor::http::{HttpOutcome, HttpRun};
use crate::executor::request::{filled_params, own_params};
use crate::job_cache::CachedJob;
use crate::recover::evidence::{Evidence, NO_HTTP_ANSWER, Resolution};

impl Evidence {
    /// Sends the request of a run once more, which its row says first. Without an answer the row stays as it is: the next look comes
    /// when the time for the answer is over again.
    pub(super) async fn send_request_again(
        &self,
        unanswered: &UnansweredRun,
        job: &CachedJob,
    ) -> store::Result<Resolution> {
        let (cx, run) = (&self.cx, &unanswered.run);
        let Some(draft) = job.request() else { return Ok(Resolution::Later) };
        let (asked, sent_at) = (cx.clock.monotonic(), cx.clock.now());
        let marked = cx.store.runs().mark_resend(unanswered, Some(HTTP_REQUEST), rand::random(), &cx.node, sent_at);
        match marked.await? {
            ResendPermit::Marked { .. } => {}
            ResendPermit::Other => return Ok(Resolution::Later),
            ResendPermit::Edited { .. } | ResendPermit::Disabled => return Ok(Resolution::Unresolved(NO_HTTP_ANSWER)),
        }
        cx.metrics.resends.inc();
        let given = given_params(&cx.store, std::iter::once(run)).await?.pop().map(|(_, given)| given);
        let params = filled_params(run, job, given, || own_params(job));
        let send_until = asked + cx.settings.send_limit;
        let under_way = self.outcomes.in_flight.begin(run.run_id, sent_at);
        let outcome = Box::pin(self.http.send(cx, HttpRun { run, job, draft, params, send_until })).await;
        match outcome {
            // An earlier request may have been read, though this one has no answer either.
            HttpOutcome::NotSent(_) | HttpOutcome::PutOff(_) | HttpOutcome::Unknown(_) => {}
            HttpOutcome::Awaited => {
                self.outcomes.accepted(AcceptedRun::sent(run.run_id, sent_at), cx.clock.monotonic());
            }
            answered => {
                if let Some(mut report) = answered.into_report(run.run_id) {
                    report.sent_at = Some(sent_at);
                    self.outcomes.enqueue_internal(report);
                }
            }
        }
        under_way.end();
        Ok(Resolution::Later)
    }
}
