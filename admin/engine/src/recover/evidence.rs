//! What became of a run that was sent and never answered: its executor is asked.
//!
//! An executor of our SDK keeps a journal of the runs that it was given. It may be sent the same run again as long as it
//! keeps the journal that the run was sent to: it has it already, or it takes it now, and it runs once in any case. One
//! that has come back with another journal has forgotten what it ran, so it is only asked. Any other executor forgets;
//! its log is the only witness, and only of what has begun.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Millis, RunEvent, RunReason};

use crate::complete::outcome_queue::{OutcomeQueue, finding};
use crate::context::Context;
use crate::executor::client::{ExecutorClient, LogAnswer, LogPage, OTHER_JOURNAL, RunHeaders};
use crate::executor::directory::{Candidate, ExecutorDirectory};
use crate::executor::outcome::Outcome;
use crate::executor::request::{body, headers, is_unsendable};
use crate::plan::job_cache::JobCache;
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::open::unanswered::{ResendPermit, UnansweredRun};
use carillon_store::run::settle::finding::RunReport;

/// The highest number of sends of one run whose executors give no answer.
const MOST_SENDS: i32 = 4;
/// An executor that does not answer a question about a run is asked again for this time, in ms, from the send.
const PATIENCE_MS: i64 = 60_000;

const NO_ANSWER: &str = "sent, and no clear answer came";
const JOURNAL_LOST: &str = "sent, and no clear answer came; its executor has restarted since, does not know the run and may keep another \
     journal, so the run was not sent again";
const MOVED: &str =
    "sent, and no clear answer came; its executor does not know the run, and the job has moved to another app since";

/// What was learned.
enum Answer {
    /// It runs, has run, or will.
    Accepted,
    /// It has not run and will not.
    Refused { code: i32, message: String },
    /// Nothing yet, but its executor is there: again in the next round.
    Later,
    /// Nothing, and there is no one left to ask: why.
    Nothing(&'static str),
}

pub struct Evidence {
    pub cx: Arc<Context>,
    pub client: Arc<ExecutorClient>,
    pub directory: Arc<ExecutorDirectory>,
    pub jobs: Arc<JobCache>,
    pub outcomes: Arc<OutcomeQueue>,
}

impl Evidence {
    pub async fn ask(&self, run_id: i64) {
        if let Err(error) = self.conclude(run_id).await {
            tracing::warn!(run.id = run_id, %error, "what became of a run could not be asked yet");
        }
    }

    async fn conclude(&self, run_id: i64) -> store::Result<()> {
        let Some(doubt) = self.cx.store.runs().unanswered_run(run_id).await? else {
            return Ok(());
        };
        match self.answer(&doubt).await? {
            Answer::Accepted => {
                // At once: it was accepted a while ago.
                self.outcomes.accepted(run_id, first_sent_at(&doubt), Duration::ZERO);
                self.outcomes.wake.notify_one();
            }
            Answer::Refused { code, message } => {
                let refused = finding(run_id, RunEvent::Refused, RunReason::Refused, message);
                self.outcomes.report_own(RunReport { code: Some(code), ..refused });
            }
            Answer::Later => {}
            // Decided once, here: the run may have arrived, so it is not sent again unless the job allows retries.
            Answer::Nothing(why) => {
                self.outcomes.report_own(finding(run_id, RunEvent::Unresolved, RunReason::Unknown, why));
            }
        }
        Ok(())
    }

    async fn answer(&self, doubt: &UnansweredRun) -> store::Result<Answer> {
        let (Some(app), Some(address)) = (&doubt.app, &doubt.address) else {
            return Ok(Answer::Nothing(NO_ANSWER));
        };
        let Ok(own) = self.directory.registered(app, address) else {
            return Ok(Answer::Nothing(NO_ANSWER));
        };
        if !own.keeps_a_journal {
            return Ok(self.log_evidence(doubt, app, address).await);
        }
        if !is_the_same_journal(doubt, &own) {
            return Ok(match self.what_it_knows(doubt, app, address).await {
                Knows::No => Answer::Nothing(JOURNAL_LOST),
                other => other.answer(&self.cx, doubt),
            });
        }
        if doubt.sends >= MOST_SENDS {
            return Ok(self.log_evidence(doubt, app, address).await);
        }
        self.mark_and_send_again(doubt, &own, app).await
    }

    async fn mark_and_send_again(&self, doubt: &UnansweredRun, own: &Candidate, app: &str) -> store::Result<Answer> {
        match self.mark_resend(doubt, own).await? {
            Attempt::Sent(answer) => Ok(answer),
            Attempt::Disabled => Ok(self.log_evidence(doubt, app, &own.address).await),
            // What was sent is not what would be sent now: sent again only if the first request did not arrive.
            Attempt::Edited { revision, same_app } => match self.what_it_knows(doubt, app, &own.address).await {
                Knows::No if !same_app => Ok(Answer::Nothing(MOVED)),
                Knows::No => {
                    let doubt = UnansweredRun { revision: Some(revision), ..doubt.clone() };
                    match self.mark_resend(&doubt, own).await? {
                        Attempt::Sent(answer) => Ok(answer),
                        Attempt::Disabled | Attempt::Edited { .. } => Ok(Answer::Later),
                    }
                }
                other => Ok(other.answer(&self.cx, doubt)),
            },
        }
    }

    async fn mark_resend(&self, doubt: &UnansweredRun, own: &Candidate) -> store::Result<Attempt> {
        let again = Allowed { asked: self.cx.clock.monotonic(), marked_at: self.cx.clock.now() };
        let (token, boot_id) = (rand::random(), own.boot_id.as_deref());
        let marked = self.cx.store.runs().mark_resend(doubt, boot_id, token, &self.cx.node, again.marked_at);
        Ok(match marked.await? {
            ResendPermit::Marked { revision } => {
                self.cx.metrics.resends.inc();
                Attempt::Sent(self.send_again(doubt, own, revision, again).await?)
            }
            ResendPermit::Other => Attempt::Sent(Answer::Later),
            ResendPermit::Edited { revision, same_app } => Attempt::Edited { revision, same_app },
            ResendPermit::Disabled => Attempt::Disabled,
        })
    }

    async fn send_again(
        &self,
        doubt: &UnansweredRun,
        own: &Candidate,
        revision: i64,
        again: Allowed,
    ) -> store::Result<Answer> {
        let run = &doubt.run;
        let params = self.cx.store.jobs().given_params(&[run.run_id]).await?.pop();
        let current = self.jobs.current(&[run.job_id]).await?;
        let mut jobs = self.jobs.with_params(current.values()).await?;
        jobs.extend(current.into_iter().filter(|(_, job)| !job.params_are_apart()));
        // An edit that was answered before the request must be what is sent, and the row says which one it was.
        let job = jobs.get(&run.job_id);
        let Some(job) = job.filter(|job| job.stored.revision == revision) else {
            return Ok(Answer::Later);
        };
        if is_unsendable(job, params.as_ref().map(|(_, params)| params)) {
            return Ok(Answer::Nothing(NO_ANSWER));
        }
        let limit = self.cx.settings.send_limit;
        // Others may have settled the run, and its executor forgotten it, while this process stood still.
        if self.cx.clock.monotonic().saturating_sub(again.asked) > limit {
            return Ok(Answer::Later);
        }
        let request = body(run, job, params.map(|(_, params)| params));
        let about =
            RunHeaders { journal_id: own.journal_id.as_deref(), ..headers(run, job, again.marked_at + 2 * ms(limit)) };
        let outcome = self.client.run(&own.address, &request, &about).await;
        Ok(match outcome {
            Outcome::Accepted => Answer::Accepted,
            // It has come back with another journal since it registered: what ran before is not known.
            Outcome::Refused { code, .. } if code == OTHER_JOURNAL => Answer::Nothing(JOURNAL_LOST),
            Outcome::Refused { code, message } => Answer::Refused { code, message },
            // It may just be starting again, or be slow. When its lease is over there is no one left to ask.
            Outcome::NotSent { .. } | Outcome::Withheld { .. } | Outcome::Unknown { .. } => Answer::Later,
        })
    }

    async fn what_it_knows(&self, doubt: &UnansweredRun, app: &str, address: &str) -> Knows {
        let run = &doubt.run;
        let look = self.client.look(address, app, run.run_id, run.due_at);
        match look.await {
            Ok(look) if look.run_state.is_some() => Knows::Yes,
            Ok(look) if look.page.as_ref().is_some_and(log_shows_start) => Knows::Yes,
            Ok(_) => Knows::No,
            Err(why) => {
                tracing::debug!(run.id = run.run_id, reason = why, "an executor does not answer");
                Knows::Silent
            }
        }
    }

    async fn log_evidence(&self, doubt: &UnansweredRun, app: &str, address: &str) -> Answer {
        let run = &doubt.run;
        let log = self.client.read_log(address, app, run.run_id, run.due_at, 1);
        match log.await {
            Ok(LogAnswer::Page(page)) if log_shows_start(&page) => Answer::Accepted,
            // That there is no log yet proves nothing: it may be in a queue.
            _ => Answer::Nothing(NO_ANSWER),
        }
    }
}

/// When its first request may have left: the mark may be a little ahead of the instant, the request is not.
fn first_sent_at(doubt: &UnansweredRun) -> Millis {
    doubt.marked_at.max(doubt.run.due_at)
}

/// The executor still remembers what it was sent. Executors of older versions announce no journal: only the process that
/// was sent the run is certain to have it.
fn is_the_same_journal(doubt: &UnansweredRun, own: &Candidate) -> bool {
    match (&doubt.journal_id, &own.journal_id) {
        (Some(then), Some(now)) => then == now,
        (None, None) => doubt.boot_id.is_some() && doubt.boot_id == own.boot_id,
        _ => false,
    }
}

enum Attempt {
    Sent(Answer),
    Edited { revision: i64, same_app: bool },
    Disabled,
}

/// When one more request was allowed.
#[derive(Clone, Copy)]
struct Allowed {
    /// On the monotonic clock, before the mark was asked for.
    asked: Duration,
    marked_at: Millis,
}

/// What an executor of our SDK says of a run without being sent it.
enum Knows {
    Yes,
    No,
    Silent,
}

impl Knows {
    fn answer(self, cx: &Context, doubt: &UnansweredRun) -> Answer {
        let waited = cx.clock.now() - doubt.marked_at;
        match self {
            Self::Yes => Answer::Accepted,
            Self::Silent if waited < PATIENCE_MS => Answer::Later,
            Self::Silent | Self::No => Answer::Nothing(NO_ANSWER),
        }
    }
}

/// What Java and pyxxl write into a page where they have no log.
const NO_LOG: [&str; 2] = ["readLog fail", "No such logid"];

/// Does this page of a log show that its run has begun?
pub fn log_shows_start(page: &LogPage) -> bool {
    let text = page.content.trim();
    page.to_line > 0 && !text.is_empty() && !NO_LOG.iter().any(|none| text.starts_with(none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_says_there_is_no_log_is_no_witness() {
        let page = |to_line, content: &str| LogPage { from_line: 1, to_line, content: content.into(), is_end: true };
        assert!(log_shows_start(&page(1, "started\n")));
        assert!(!log_shows_start(&page(0, "readLog fail, logFile not exists")));
        assert!(!log_shows_start(&page(1, "No such logid logs.")));
        assert!(!log_shows_start(&page(3, " \n")));
    }
}
