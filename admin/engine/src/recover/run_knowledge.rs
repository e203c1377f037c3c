//! What an executor knows of a run that it has, or should have. An executor of our SDK reports the state of a run with its log. Any
//! other executor reports whether it works on the run's job; its log only shows that the run has started.

use std::sync::Arc;

use carillon_scheduler::{BlockStrategy, Millis};

use crate::complete::outcome_queue::OutcomeQueue;
use crate::context::Context;
use crate::executor::client::{ExecutorClient, LogPage, RunQueryResult};
use crate::executor::directory::ExecutorDirectory;
use crate::executor::outcome::Outcome;
use crate::job_cache::JobCache;
use carillon_store as store;
use carillon_store::run::open::checked::ToCheck;
use carillon_store::run::open::running::{Registered, RunningRun};

/// Instants of a job's schedule before a run, and after it, by which its other runs are looked for.
const INSTANTS: usize = 100;

/// What an executor knows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKnowledge {
    Running,
    /// The run waits there behind another run.
    Queued,
    /// The run has ended there; its report is under way.
    Finished,
    /// The executor has no such run.
    Unknown,
    /// The executor answers, and not about the run's job: it has no `/idleBeat`, or refuses the token.
    Unclear,
    NoAnswer,
}

impl RunKnowledge {
    /// From the answer of an executor of our SDK.
    fn of_own(found: &RunQueryResult) -> Self {
        match (found.run_state.as_deref(), &found.page) {
            (Some("queued"), _) => Self::Queued,
            (Some("running"), _) => Self::Running,
            (Some("finished"), _) => Self::Finished,
            (_, Some(page)) if !page.is_end => Self::Running,
            // A log of an earlier process.
            _ => Self::Unknown,
        }
    }
}

/// What `/idleBeat` has answered.
#[derive(PartialEq, Eq)]
pub enum IdleBeat {
    /// Neither a running nor a waiting run of the job.
    Idle,
    Busy,
    /// Nothing about the job; and whether the executor has answered at all.
    Unclear {
        why: String,
        answers: bool,
    },
}

/// The refusals of `/idleBeat` that say nothing about the job.
const NOT_ABOUT_THE_JOB: [&str; 4] = ["not configured", "access token", "accessToken", "uri-mapping"];

impl From<Outcome> for IdleBeat {
    fn from(outcome: Outcome) -> Self {
        let is_busy = |message: &str| !NOT_ABOUT_THE_JOB.iter().any(|other| message.contains(other));
        match outcome {
            Outcome::Accepted => Self::Idle,
            Outcome::Refused { code: 500, message } if is_busy(&message) => Self::Busy,
            Outcome::Refused { message, .. } => Self::Unclear { why: message, answers: true },
            Outcome::NotSent { why } | Outcome::Withheld { why } | Outcome::Unknown { why } => {
                Self::Unclear { why, answers: false }
            }
        }
    }
}

/// What the rules of this folder share: they ask executors and report what they learn.
pub struct RecoverContext {
    pub cx: Arc<Context>,
    pub client: Arc<ExecutorClient>,
    pub directory: Arc<ExecutorDirectory>,
    pub outcomes: Arc<OutcomeQueue>,
    pub jobs: Arc<JobCache>,
}

impl RecoverContext {
    /// Asks the executor of a running run.
    pub async fn query_run(&self, run: &RunningRun) -> store::Result<RunKnowledge> {
        let (Some(app), Some(address)) = (&run.app, &run.address) else {
            return Ok(RunKnowledge::Unknown);
        };
        if self.directory.registered(app, address).is_err() {
            return Ok(RunKnowledge::NoAnswer);
        }
        let is_own = is_own(run);
        if !is_own {
            let beat = self.client.idle_beat(address, app, run.job_id, self.cx.settings.send_limit).await;
            match IdleBeat::from(beat) {
                IdleBeat::Idle => return Ok(RunKnowledge::Unknown),
                IdleBeat::Busy => {}
                IdleBeat::Unclear { answers: true, .. } => return Ok(RunKnowledge::Unclear),
                IdleBeat::Unclear { answers: false, .. } => return Ok(RunKnowledge::NoAnswer),
            }
        }
        let found = match self.client.query_run(address, app, run.run_id, run.due_at).await {
            Ok(found) => found,
            Err(why) => {
                tracing::debug!(run.id = run.run_id, reason = why, "an executor does not answer");
                return Ok(RunKnowledge::NoAnswer);
            }
        };
        if is_own {
            return Ok(RunKnowledge::of_own(&found));
        }
        if found.page.as_ref().is_some_and(log_shows_start) {
            return Ok(RunKnowledge::Running);
        }
        // It is busy with the job. Without a log of this run it waits only if an earlier run is there: some executors keep no
        // logs, and a run that was lost with a queue has none.
        let waits = self.cx.store.runs().running_beside(run).await?.earlier;
        Ok(if waits { RunKnowledge::Queued } else { RunKnowledge::Running })
    }

    /// Instants of the run's job before the run was sent and after it: by them other runs of the job are found. None of a job
    /// without instants, or that cannot be planned.
    pub(super) async fn instants_around(&self, run: &RunningRun) -> store::Result<Vec<Millis>> {
        let jobs = self.jobs.current(&[run.job_id]).await?;
        let Some(Ok(rules)) = jobs.get(&run.job_id).map(|job| job.rules.as_ref()) else {
            return Ok(vec![]);
        };
        let later = rules.schedule.following(run.sent_at, INSTANTS);
        // As far back as the hundred next ones reach ahead.
        let span = later.last().map_or(0, |last| last - run.sent_at);
        Ok([rules.schedule.following(run.sent_at - span, INSTANTS), later].concat())
    }

    /// When the last later run was sent whose result shows, by the block strategy of the job, that the earlier ones are over.
    pub async fn last_result_after(&self, it: &ToCheck) -> store::Result<Option<Millis>> {
        let instants = self.instants_around(&it.run).await?;
        // Under `discard_later` some executors accept a run and report that they have discarded it.
        let failures_count = it.block.is_some_and(|(block, _)| block == BlockStrategy::Serial);
        self.cx.store.runs().last_result_after(&it.run, &instants, failures_count).await
    }
}

/// An executor of our SDK is registered at the run's address.
pub fn is_own(run: &RunningRun) -> bool {
    run.registered.as_ref().is_some_and(Registered::is_own)
}

/// What Java and pyxxl write into a page where they have no log.
const NO_LOG: [&str; 2] = ["readLog fail", "No such logid"];

/// Whether this page of a log shows that its run has started.
pub fn log_shows_start(page: &LogPage) -> bool {
    page.to_line > 0 && !page.content.trim().is_empty() && !says_no_log(&page.content)
}

/// Whether the text of a page says that there is no log.
pub fn says_no_log(text: &str) -> bool {
    text.lines().count() == 1 && NO_LOG.iter().any(|none| text.trim().starts_with(none))
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
