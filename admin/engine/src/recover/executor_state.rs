//! What an executor knows of a run that it has, or should have.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{BlockStrategy, Millis, RunEvent, RunReason};

use crate::complete::outcome_queue::{OutcomeQueue, finding};
use crate::context::Context;
use crate::executor::client::{ExecutorClient, Look};
use crate::executor::directory::ExecutorDirectory;
use crate::executor::outcome::Outcome;
use crate::plan::job_cache::JobCache;
use crate::recover::evidence::log_shows_start;
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::open::checked::ToCheck;
use carillon_store::run::open::running::{Registered, RunningRun};

/// A run may exceed its time by this before the admin steps in.
pub const OVER_TIME: Duration = Duration::from_secs(60);
/// An executor that does not answer, or does not stop the run, has this much longer.
pub const PATIENCE: i64 = 60_000;
/// A run that has ended there reports it itself, within this time.
pub const REPORT: i64 = 300_000;
/// Instants of a job's schedule before a run, and after it, by which its other runs are looked for.
const INSTANTS: usize = 100;

/// What was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Running,
    /// It waits there behind another run.
    Queued,
    /// Its end is on its way here.
    Ended,
    /// It has no such run.
    Unknown,
    Silent,
}

pub struct ExecutorState {
    pub cx: Arc<Context>,
    pub client: Arc<ExecutorClient>,
    pub directory: Arc<ExecutorDirectory>,
    pub outcomes: Arc<OutcomeQueue>,
    pub jobs: Arc<JobCache>,
}

impl ExecutorState {
    /// `running` → `lost`.
    pub fn report_lost(&self, run: &RunningRun, why: &str) {
        let address = run.address.as_deref().unwrap_or("its executor");
        let message = format!("{address}: {why}");
        self.outcomes.report_own(finding(run.run_id, RunEvent::ExecutorGone, RunReason::Lost, message));
    }

    /// Another process answers at the run's address.
    pub async fn restarted(&self, run: &RunningRun) -> store::Result<()> {
        match self.word(run).await? {
            // The process had changed before the request came: the new one has it.
            Word::Running | Word::Queued => {
                let boot_id = run.registered.as_ref().and_then(|it| it.boot_id.as_ref());
                if let Some(boot_id) = boot_id {
                    self.cx.store.runs().note_boot(run.run_id, boot_id).await?;
                }
            }
            Word::Unknown => self.report_lost(run, "the executor was restarted"),
            // Its journal has the end, or that it was interrupted: a report is on its way, and worth waiting for.
            Word::Ended => {
                let since = run.registered.as_ref().map_or(0, |it| it.registered_at);
                if since + REPORT < self.cx.clock.now() {
                    self.report_lost(run, "ended there, and never reported");
                }
            }
            // It has just registered. If it stays silent its lease ends.
            Word::Silent => {}
        }
        Ok(())
    }

    /// An executor of our SDK has registered as a new process.
    pub async fn all_restarted(&self, address: &str, boot_id: &str) -> store::Result<()> {
        let runs = self.cx.store.runs().runs_of_earlier_boots(address, boot_id).await?;
        for run in runs.iter().filter(|run| run.has_restarted()) {
            self.restarted(run).await?;
        }
        Ok(())
    }

    /// The run is over its time by more than its executor may need to end it.
    pub async fn over_time(&self, run: &RunningRun) -> store::Result<()> {
        let Some(end) = run.ends_by() else {
            return Ok(());
        };
        let over_by = self.cx.clock.now() - end - ms(OVER_TIME);
        match self.word(run).await? {
            Word::Running => self.end_it(run, over_by).await?,
            Word::Unknown => self.report_lost(run, "over its time, and not known there"),
            Word::Ended if over_by > REPORT => self.report_lost(run, "ended there, and never reported"),
            Word::Silent if over_by > PATIENCE => {
                self.report_lost(run, "over its time, and its executor does not answer");
            }
            Word::Queued | Word::Ended | Word::Silent => {}
        }
        Ok(())
    }

    async fn end_it(&self, run: &RunningRun, over_by: Millis) -> store::Result<()> {
        // It may have waited behind another run, and begun only then.
        let instants = self.instants_around(run).await?;
        if let Some(began_at) = self.cx.store.runs().last_end_beside(run, &instants).await?
            && began_at + run.timeout_ms + ms(OVER_TIME) > self.cx.clock.now()
        {
            return Ok(());
        }
        let (Some(app), Some(address)) = (&run.app, &run.address) else {
            return Ok(());
        };
        // It may have deregistered since it was asked about the run.
        if self.directory.registered(app, address).is_err() {
            return Ok(());
        }
        // A stock executor ends all runs of the job: a later one may be what it is busy with. This is read last, so that hardly any
        // time lies between it and the kill.
        if !is_own(run) {
            let beside = self.cx.store.runs().running_beside(run).await?;
            if beside.later {
                let why = "over its time, and the executor has a later run of this job: nothing was ended there";
                self.report_lost(run, why);
            }
            // Without its answer it is not known whether the later one is there: the next round sees.
            if beside.later || beside.later_unanswered {
                return Ok(());
            }
        }
        let job_id = i32::try_from(run.job_id).unwrap_or(i32::MAX);
        match self.client.kill(address, app, job_id, run.run_id).await {
            Outcome::Accepted => {
                let seconds = run.timeout_ms / 1000;
                let message = format!("over its time-out of {seconds} s by a minute: its executor was asked to end it");
                self.outcomes.report_own(finding(run.run_id, RunEvent::TimedOut, RunReason::Timeout, message));
            }
            _ if over_by > PATIENCE => self.report_lost(run, "over its time, and cannot be ended there"),
            _ => {}
        }
        Ok(())
    }

    /// Instants of the run's job before the run was sent and after it: by them other runs of the job are found. None of a job
    /// without instants, or that cannot be planned.
    async fn instants_around(&self, run: &RunningRun) -> store::Result<Vec<Millis>> {
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

    pub async fn word(&self, run: &RunningRun) -> store::Result<Word> {
        let (Some(app), Some(address)) = (&run.app, &run.address) else {
            return Ok(Word::Unknown);
        };
        if self.directory.registered(app, address).is_err() {
            return Ok(Word::Silent);
        }
        let is_own = is_own(run);
        if !is_own {
            let job_id = i32::try_from(run.job_id).unwrap_or(i32::MAX);
            let limit = self.cx.settings.send_limit;
            match self.client.idle_beat(address, app, job_id, limit).await {
                // Neither a running nor a waiting run of the job.
                Outcome::Accepted => return Ok(Word::Unknown),
                Outcome::Refused { .. } => {}
                Outcome::NotSent { .. } | Outcome::Withheld { .. } | Outcome::Unknown { .. } => {
                    return Ok(Word::Silent);
                }
            }
        }
        let look = self.client.look(address, app, run.run_id, run.due_at).await;
        let page = match look {
            Err(why) => {
                tracing::debug!(run.id = run.run_id, reason = why, "an executor does not answer");
                return Ok(Word::Silent);
            }
            Ok(look) if is_own => return Ok(own_word(&look)),
            Ok(look) => look.page,
        };
        if page.is_some_and(|page| log_shows_start(&page)) {
            return Ok(Word::Running);
        }
        // It is busy with the job. Without a log of this run it waits only if an earlier run is there: some executors keep no
        // logs, and a run that was lost with a queue has none.
        let waits = self.cx.store.runs().running_beside(run).await?.earlier;
        Ok(if waits { Word::Queued } else { Word::Running })
    }
}

/// Its address has an executor of our SDK.
pub fn is_own(run: &RunningRun) -> bool {
    run.registered.as_ref().is_some_and(Registered::is_own)
}

fn own_word(look: &Look) -> Word {
    match (look.run_state.as_deref(), &look.page) {
        (Some("queued"), _) => Word::Queued,
        (Some("running"), _) => Word::Running,
        (Some("finished"), _) => Word::Ended,
        (_, Some(page)) if !page.is_end => Word::Running,
        // A log of an earlier process.
        _ => Word::Unknown,
    }
}
