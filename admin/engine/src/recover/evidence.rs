//! What became of a run that was sent and never answered: its executor is asked.
//!
//! An executor of our SDK keeps a journal of the runs that it was given. It may be sent the same run again as long as it
//! keeps the journal that the run was sent to: it has it already, or it takes it now, and it runs once in any case. One
//! that has come back with another journal has forgotten what it ran, so it is only asked. Any other executor forgets;
//! its log is the only witness, and only of what has begun.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::job::http::MOST_TIMEOUT_SECONDS;
use carillon_scheduler::{Millis, RunEvent, RunReason};

use crate::complete::outcome_queue::OutcomeQueue;
use crate::context::Context;
use crate::dispatch::given_params::given_params;
use crate::executor::client::{ExecutorClient, LogAnswer, OTHER_JOURNAL, RunHeaders};
use crate::executor::directory::{Candidate, ExecutorDirectory};
use crate::executor::http::{HttpOutcome, HttpSender};
use crate::executor::outcome::Outcome;
use crate::executor::request::{body, headers, is_unsendable};
use crate::executor::scripts::ScriptCache;
use crate::job_cache::JobCache;
use crate::recover::lost::NO_ANSWER_GRACE;
use crate::recover::run_knowledge::log_shows_start;
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::open::unanswered::{ResendPermit, UnansweredRun};
use carillon_store::run::settle::finding::{AcceptedRun, RunReport};

/// The highest number of sends of one run whose executors give no answer.
const MOST_SENDS: i32 = 4;

const NO_ANSWER: &str = "sent, and no clear answer came";
pub(super) const NO_HTTP_ANSWER: &str = "sent, and the node that sent it has not stored an answer";
const NO_ANSWERS: &str = "sent several times, and no answer came";
const JOURNAL_LOST: &str = "sent, and no clear answer came; its executor has restarted since, does not know the run and may keep another \
     journal, so the run was not sent again";
const MOVED: &str =
    "sent, and no clear answer came; its executor does not know the run, and the job has moved to another app since";

/// What was learned.
pub(super) enum Resolution {
    /// It runs, has run, or will.
    Accepted,
    /// It has not run and will not.
    Refused { code: i32, message: String },
    /// Its end was asked for, and no node waits for its answer any more.
    Killed,
    /// Nothing yet, but its executor is there: again in the next round.
    Later,
    /// Nothing, and there is no one left to ask: why.
    Unresolved(&'static str),
}

pub struct Evidence {
    pub cx: Arc<Context>,
    pub client: Arc<ExecutorClient>,
    pub directory: Arc<ExecutorDirectory>,
    pub jobs: Arc<JobCache>,
    pub scripts: Arc<ScriptCache>,
    pub outcomes: Arc<OutcomeQueue>,
    pub http: Arc<HttpSender>,
}

impl Evidence {
    pub async fn resolve(&self, run_id: i64) {
        if let Err(error) = self.try_resolve(run_id).await {
            tracing::warn!(run.id = run_id, %error, "what became of a run could not be asked yet");
        }
    }

    async fn try_resolve(&self, run_id: i64) -> store::Result<()> {
        let Some(unanswered) = self.cx.store.runs().unanswered_run(run_id).await? else {
            return Ok(());
        };
        match self.find_out(&unanswered).await? {
            Resolution::Accepted => {
                // At once: it was accepted a while ago.
                let accepted = AcceptedRun::sent(run_id, first_sent_at(&unanswered));
                self.outcomes.accepted(accepted, Duration::ZERO);
                self.outcomes.wake.notify_one();
            }
            Resolution::Refused { code, message } => {
                let refused = RunReport::internal(run_id, RunEvent::Refused, RunReason::Refused, message);
                self.outcomes.enqueue_internal(RunReport { code: Some(code), ..refused });
            }
            Resolution::Killed => {
                if let Some(killed) = HttpOutcome::Killed.into_report(run_id) {
                    self.outcomes.enqueue_internal(killed);
                }
            }
            Resolution::Later => {}
            // Decided once, here: the run may have arrived, so it is not sent again unless the job allows retries.
            Resolution::Unresolved(why) => {
                self.outcomes.report_internal(run_id, RunEvent::Unresolved, RunReason::Unknown, why);
            }
        }
        Ok(())
    }

    async fn find_out(&self, unanswered: &UnansweredRun) -> store::Result<Resolution> {
        let (Some(app), Some(address)) = (&unanswered.app, &unanswered.address) else {
            return Ok(Resolution::Unresolved(NO_ANSWER));
        };
        if unanswered.is_http() {
            return self.http_evidence(unanswered).await;
        }
        let Ok(own) = self.directory.registered(app, address) else {
            return Ok(Resolution::Unresolved(NO_ANSWER));
        };
        if !own.keeps_a_journal {
            return Ok(self.log_evidence(unanswered, app, address).await);
        }
        if !is_the_same_journal(unanswered, &own) {
            let known = self.query_journal(unanswered, app, address).await;
            return Ok(known.unwrap_or(Resolution::Unresolved(JOURNAL_LOST)));
        }
        if unanswered.sends >= MOST_SENDS {
            return Ok(self.log_evidence(unanswered, app, address).await);
        }
        self.mark_and_send_again(unanswered, &own, app).await
    }

    /// The answer to the request of an HTTP job goes to the node that sent it, which may still wait for it.
    async fn http_evidence(&self, unanswered: &UnansweredRun) -> store::Result<Resolution> {
        let job_id = unanswered.run.job_id;
        let jobs = self.jobs.current(&[job_id]).await?;
        let sent = jobs.get(&job_id).filter(|job| unanswered.revision == Some(job.stored.revision));
        // What another definition has sent is awaited for as long as any answer may take.
        let seconds =
            sent.and_then(|job| job.request()).map_or(MOST_TIMEOUT_SECONDS, |request| request.timeout_seconds.into());
        let limit = Duration::from_secs(seconds.unsigned_abs());
        let until = unanswered.marked_at + ms(limit + self.cx.settings.unknown_after);
        if self.cx.clock.now() < until {
            return Ok(Resolution::Later);
        }
        let idempotent = sent.filter(|job| job.request().is_some_and(|request| request.idempotent));
        match idempotent {
            // It would be sent before the kill is seen.
            Some(_) if self.cx.store.runs().is_kill_requested(unanswered.run.run_id).await? => Ok(Resolution::Killed),
            Some(job) if unanswered.sends < MOST_SENDS => self.send_request_again(unanswered, job).await,
            Some(_) => Ok(Resolution::Unresolved(NO_ANSWERS)),
            None => Ok(Resolution::Unresolved(NO_HTTP_ANSWER)),
        }
    }

    async fn mark_and_send_again(
        &self,
        unanswered: &UnansweredRun,
        own: &Candidate,
        app: &str,
    ) -> store::Result<Resolution> {
        match self.mark_resend(unanswered, own).await? {
            Attempt::Sent(answer) => Ok(answer),
            Attempt::Disabled => Ok(self.log_evidence(unanswered, app, &own.address).await),
            // What was sent is not what would be sent now: sent again only if the first request did not arrive.
            Attempt::Edited { revision, same_app } => match self.query_journal(unanswered, app, &own.address).await {
                Some(answer) => Ok(answer),
                None if !same_app => Ok(Resolution::Unresolved(MOVED)),
                None => {
                    let unanswered = UnansweredRun { revision: Some(revision), ..unanswered.clone() };
                    match self.mark_resend(&unanswered, own).await? {
                        Attempt::Sent(answer) => Ok(answer),
                        Attempt::Disabled | Attempt::Edited { .. } => Ok(Resolution::Later),
                    }
                }
            },
        }
    }

    async fn mark_resend(&self, unanswered: &UnansweredRun, own: &Candidate) -> store::Result<Attempt> {
        let window = ResendWindow { asked: self.cx.clock.monotonic(), marked_at: self.cx.clock.now() };
        let (token, boot_id) = (rand::random(), own.boot_id.as_deref());
        let marked = self.cx.store.runs().mark_resend(unanswered, boot_id, token, &self.cx.node, window.marked_at);
        Ok(match marked.await? {
            ResendPermit::Marked { revision } => {
                self.cx.metrics.resends.inc();
                Attempt::Sent(self.send_again(unanswered, own, revision, window).await?)
            }
            ResendPermit::Other => Attempt::Sent(Resolution::Later),
            ResendPermit::Edited { revision, same_app } => Attempt::Edited { revision, same_app },
            ResendPermit::Disabled => Attempt::Disabled,
        })
    }

    async fn send_again(
        &self,
        unanswered: &UnansweredRun,
        own: &Candidate,
        revision: i64,
        window: ResendWindow,
    ) -> store::Result<Resolution> {
        let run = &unanswered.run;
        let given = given_params(&self.cx.store, std::iter::once(run)).await?.pop();
        let current = self.jobs.current(&[run.job_id]).await?;
        let mut jobs = self.jobs.with_params(current.values()).await?;
        jobs.extend(current.into_iter().filter(|(_, job)| !job.params_are_apart()));
        // An edit that was answered before the request must be what is sent, and the row says which one it was.
        let job = jobs.get(&run.job_id);
        let Some(job) = job.filter(|job| job.stored.revision == revision) else {
            return Ok(Resolution::Later);
        };
        if is_unsendable(job, given.as_ref().map(|(_, given)| given)) {
            return Ok(Resolution::Unresolved(NO_ANSWER));
        }
        let script = match job.script_version() {
            None => None,
            // Switched off since it was sent.
            Some(_) if !self.cx.settings.scripts => return Ok(Resolution::Unresolved(NO_ANSWER)),
            Some(version) => match self.scripts.sources([job].into_iter()).await?.remove(&version) {
                None => return Ok(Resolution::Later),
                found => found,
            },
        };
        let limit = self.cx.settings.send_limit;
        // Others may have settled the run, and its executor forgotten it, while this process stood still.
        if self.cx.clock.monotonic().saturating_sub(window.asked) > limit {
            return Ok(Resolution::Later);
        }
        let request = body(run, job, given.map(|(_, given)| given), script.as_deref());
        let of_run = headers(&self.cx.cluster, run, job, window.marked_at + 2 * ms(limit));
        let about = RunHeaders { journal_id: own.journal_id.as_deref(), ..of_run };
        let (outcome, _) = self.client.run(&own.address, &request, &about).await;
        Ok(match outcome {
            Outcome::Accepted => Resolution::Accepted,
            // It has come back with another journal since it registered: what ran before is not known.
            Outcome::Refused { code, .. } if code == OTHER_JOURNAL => Resolution::Unresolved(JOURNAL_LOST),
            Outcome::Refused { code, message } => Resolution::Refused { code, message },
            // It may just be starting again, or be slow. When its lease is over there is no one left to ask.
            Outcome::NotSent { .. } | Outcome::Withheld { .. } | Outcome::Unknown { .. } => Resolution::Later,
        })
    }

    /// Asks an executor that keeps a journal without sending the run; None: it does not know the run.
    async fn query_journal(&self, unanswered: &UnansweredRun, app: &str, address: &str) -> Option<Resolution> {
        let run = &unanswered.run;
        match self.client.query_run(address, app, run.run_id, run.due_at).await {
            Ok(found) => {
                let is_known = found.run_state.is_some() || found.page.as_ref().is_some_and(log_shows_start);
                is_known.then_some(Resolution::Accepted)
            }
            Err(why) => {
                tracing::debug!(run.id = run.run_id, reason = why, "an executor does not answer");
                let waited = self.cx.clock.now() - unanswered.marked_at;
                Some(if waited < NO_ANSWER_GRACE { Resolution::Later } else { Resolution::Unresolved(NO_ANSWER) })
            }
        }
    }

    async fn log_evidence(&self, unanswered: &UnansweredRun, app: &str, address: &str) -> Resolution {
        let run = &unanswered.run;
        let log = self.client.read_log(address, app, run.run_id, run.due_at, 1);
        match log.await {
            Ok(LogAnswer::Page(page)) if log_shows_start(&page) => Resolution::Accepted,
            // That there is no log yet proves nothing: it may be in a queue.
            _ => Resolution::Unresolved(NO_ANSWER),
        }
    }
}

/// When its first request may have left: the mark may be a little ahead of the instant, the request is not.
fn first_sent_at(unanswered: &UnansweredRun) -> Millis {
    unanswered.marked_at.max(unanswered.run.due_at)
}

/// The executor still remembers what it was sent. Executors of older versions announce no journal: only the process that
/// was sent the run is certain to have it.
fn is_the_same_journal(unanswered: &UnansweredRun, own: &Candidate) -> bool {
    match (&unanswered.journal_id, &own.journal_id) {
        (Some(then), Some(now)) => then == now,
        (None, None) => unanswered.boot_id.is_some() && unanswered.boot_id == own.boot_id,
        _ => false,
    }
}

enum Attempt {
    Sent(Resolution),
    Edited { revision: i64, same_app: bool },
    Disabled,
}

/// When one more request was allowed.
#[derive(Clone, Copy)]
struct ResendWindow {
    /// On the monotonic clock, before the mark was asked for.
    asked: Duration,
    marked_at: Millis,
}
