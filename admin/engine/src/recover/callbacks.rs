//! Runs whose service has answered 202: the time for the callback.

use carillon_scheduler::job::http::MOST_CALLBACK_SECONDS;
use carillon_scheduler::{RunEvent, RunReason};

use crate::recover::run_knowledge::RecoverContext;
use carillon_store as store;
use carillon_store::run::open::running::RunningRun;

impl RecoverContext {
    /// Fails the runs whose callback has not come in time. The time is the one that the job gives now; the longest one if it is gone, or
    /// awaits no callbacks any more.
    pub async fn end_unreported(&self, awaited: &[RunningRun]) -> store::Result<()> {
        if awaited.is_empty() {
            return Ok(());
        }
        let mut ids: Vec<i64> = awaited.iter().map(|run| run.job_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let (jobs, now) = (self.jobs.current(&ids).await?, self.cx.clock.now());
        for run in awaited {
            let request = jobs.get(&run.job_id).and_then(|job| job.request());
            let given = request.and_then(|request| request.callback_seconds);
            let seconds = given.map_or(MOST_CALLBACK_SECONDS, i64::from);
            if run.sent_at + seconds * 1000 < now {
                let message = format!("the service answered 202 and did not report the end within {seconds} s");
                self.outcomes.report_internal(run.run_id, RunEvent::TimedOut, RunReason::Timeout, message);
            }
        }
        Ok(())
    }
}
