//! When a run counts as lost: its executor is gone, or it answers and no longer has the run, or it does not answer or does not end the
//! run for too long.

use std::time::Duration;

use carillon_scheduler::{Millis, RunEvent, RunReason};

use crate::executor::outcome::Outcome;
use crate::recover::run_knowledge::{RecoverContext, RunKnowledge, is_own};
use crate::settings::{LostRule, ms};
use carillon_store as store;
use carillon_store::run::open::running::RunningRun;

/// A run outlives its executor's lease by this time.
pub const LOST_AFTER: Duration = Duration::from_secs(30);
/// xxl-job's rule: this long after it was sent, if its executor is not registered.
const XXL_LOST_AFTER: Duration = Duration::from_secs(600);

/// A run may exceed its time by this before the admin steps in.
pub const TIMEOUT_GRACE: Duration = Duration::from_secs(60);
/// An executor that does not answer, or does not stop the run, has this much longer, in ms.
pub const NO_ANSWER_GRACE: Millis = 60_000;
/// A run that has ended there reports it itself, within this time, in ms.
pub const REPORT_GRACE: Millis = 300_000;

/// What a run's row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunHealth {
    Fine,
    /// Its executor has sent no heartbeat for too long.
    Gone,
    /// Its address has another process by now.
    Restarted,
    Overdue,
}

impl RecoverContext {
    /// `lease_end`: until when its executor counts as there.
    pub fn health(&self, run: &RunningRun, lease_end: Millis, now: Millis) -> RunHealth {
        if run.is_held {
            let is_over = run.ends_by().is_some_and(|end| end < now);
            return if is_over { RunHealth::Overdue } else { RunHealth::Fine };
        }
        let gone = match self.cx.settings.lost_rule {
            LostRule::Lease => lease_end + ms(LOST_AFTER) < now,
            LostRule::Xxl => lease_end < now && run.sent_at + ms(XXL_LOST_AFTER) < now,
        };
        if gone {
            return RunHealth::Gone;
        }
        if lease_end < now {
            // Only executors that are registered are called.
            return RunHealth::Fine;
        }
        if run.has_restarted() {
            return RunHealth::Restarted;
        }
        match run.ends_by() {
            Some(end) if end + ms(TIMEOUT_GRACE) < now => RunHealth::Overdue,
            _ => RunHealth::Fine,
        }
    }

    pub fn report_gone(&self, run: &RunningRun) {
        self.report_lost(run, "its executor is gone");
    }

    /// `running` → `lost`.
    pub fn report_lost(&self, run: &RunningRun, why: &str) {
        let address = run.address.as_deref().unwrap_or("its executor");
        let message = format!("{address}: {why}");
        self.outcomes.report_internal(run.run_id, RunEvent::ExecutorGone, RunReason::Lost, message);
    }

    /// Another process answers at the run's address.
    pub async fn handle_restart(&self, run: &RunningRun) -> store::Result<()> {
        match self.query_run(run).await? {
            // The process had changed before the request came: the new one has it.
            RunKnowledge::Running | RunKnowledge::Queued => {
                let boot_id = run.registered.as_ref().and_then(|it| it.boot_id.as_ref());
                if let Some(boot_id) = boot_id {
                    self.cx.store.runs().note_boot(run.run_id, boot_id).await?;
                }
            }
            RunKnowledge::Unknown => self.report_lost(run, "the executor was restarted"),
            // Its journal has the end, or that it was interrupted: a report is on its way, and worth waiting for.
            RunKnowledge::Finished => {
                let since = run.registered.as_ref().map_or(0, |it| it.registered_at);
                if since + REPORT_GRACE < self.cx.clock.now() {
                    self.report_lost(run, "ended there, and never reported");
                }
            }
            // It has just registered. If it stays silent its lease ends.
            RunKnowledge::Unclear | RunKnowledge::NoAnswer => {}
        }
        Ok(())
    }

    /// An executor of our SDK has registered as a new process.
    pub async fn handle_restarts(&self, address: &str, boot_id: &str) -> store::Result<()> {
        let runs = self.cx.store.runs().runs_of_earlier_boots(address, boot_id).await?;
        for run in runs.iter().filter(|run| run.has_restarted() && !run.is_http()) {
            self.handle_restart(run).await?;
        }
        Ok(())
    }

    /// The run is over its time by more than its executor may need to end it.
    pub async fn handle_overdue(&self, run: &RunningRun) -> store::Result<()> {
        let Some(end) = run.ends_by() else {
            return Ok(());
        };
        if run.is_held {
            return self.cx.store.workflows().time_out(run.run_id, self.cx.clock.now()).await;
        }
        let over_by = self.cx.clock.now() - end - ms(TIMEOUT_GRACE);
        match self.query_run(run).await? {
            RunKnowledge::Running | RunKnowledge::Unclear => self.kill_overdue(run, over_by).await?,
            RunKnowledge::Unknown => self.report_lost(run, "over its time, and not known there"),
            RunKnowledge::Finished if over_by > REPORT_GRACE => {
                self.report_lost(run, "ended there, and never reported");
            }
            RunKnowledge::NoAnswer if over_by > NO_ANSWER_GRACE => {
                self.report_lost(run, "over its time, and its executor does not answer");
            }
            RunKnowledge::Queued | RunKnowledge::Finished | RunKnowledge::NoAnswer => {}
        }
        Ok(())
    }

    async fn kill_overdue(&self, run: &RunningRun, over_by: Millis) -> store::Result<()> {
        // It may have waited behind another run, and started only then.
        let instants = self.instants_around(run).await?;
        if let Some(started_at) = self.cx.store.runs().last_end_beside(run, &instants).await?
            && started_at + run.timeout_ms + ms(TIMEOUT_GRACE) > self.cx.clock.now()
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
            // Without its answer it is not known whether the later one is there: the next round decides.
            if beside.later || beside.later_unanswered {
                return Ok(());
            }
        }
        match self.client.kill(address, app, run.job_id, run.run_id).await {
            Outcome::Accepted => {
                let seconds = run.timeout_ms / 1000;
                let message = format!("over its time-out of {seconds} s by a minute: its executor was asked to end it");
                self.outcomes.report_internal(run.run_id, RunEvent::TimedOut, RunReason::Timeout, message);
            }
            _ if over_by > NO_ANSWER_GRACE => self.report_lost(run, "over its time, and cannot be ended there"),
            _ => {}
        }
        Ok(())
    }
}
