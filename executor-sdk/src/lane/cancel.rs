//! Cancels runs: kill by an admin, the executor's stop.

use carillon_protocol::FAILURE;

use super::lane::Lanes;
use crate::run::Run;

impl Lanes {
    /// Cancels all runs of a job; `false` if there is none.
    pub(crate) fn kill_job(&self, job_id: i32, reason: &str) -> bool {
        let mut state = self.state.lock();
        let lane = state.lanes.get_mut(&job_id);
        lane.map(|lane| self.cancel_lane(lane, reason)).is_some()
    }

    /// Cancels one run of a job; `false` if it is not here.
    pub(crate) fn kill_run(&self, job_id: i32, log_id: i64, reason: &str) -> bool {
        let mut state = self.state.lock();
        let Some(lane) = state.lanes.get_mut(&job_id) else {
            return false;
        };
        let has_id = |run: &Run| run.request.log_id == log_id;
        if let Some(running) = lane.running.as_ref().filter(|run| has_id(run)) {
            running.cancel(reason);
            return true;
        }
        let index = lane.queue.iter().position(|waiting| has_id(&waiting.run));
        let Some(waiting) = index.and_then(|index| lane.queue.remove(index)) else {
            return false;
        };
        self.report(waiting.run.not_executed(reason));
        true
    }

    /// Cancels all runs of all jobs.
    pub(crate) fn cancel_all(&self, reason: &str) {
        for lane in self.state.lock().lanes.values_mut() {
            self.cancel_lane(lane, reason);
        }
    }

    /// Reports the runs whose handlers did not end. If one ends later, its result is ignored.
    pub(crate) fn report_unfinished(&self, reason: &str) {
        for lane in self.state.lock().lanes.values() {
            if let Some(run) = &lane.running {
                self.report(run.result(FAILURE, Some(format!("{reason} [job running, killed]"))));
            }
        }
    }

    /// Drops all handlers at once, without a report, as a crash would.
    pub(crate) fn abort(&self) {
        self.aborted.cancel();
    }
}
