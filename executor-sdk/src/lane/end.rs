//! Ending runs before their time: kill, cover early, the executor's stop.

use carillon_protocol::FAILURE;

use super::{Lane, Lanes};
use crate::run::Run;

impl Lanes {
    /// Ends all runs of a job; `false` if there is none.
    pub(crate) fn kill_job(&self, job_id: i32, reason: &str) -> bool {
        let mut inner = self.lock();
        let lane = inner.lanes.get_mut(&job_id);
        lane.map(|lane| self.end_all(lane, reason)).is_some()
    }

    /// Ends one run of a job; `false` if it is not here.
    pub(crate) fn kill_run(&self, job_id: i32, log_id: i64, reason: &str) -> bool {
        let mut inner = self.lock();
        let Some(lane) = inner.lanes.get_mut(&job_id) else {
            return false;
        };
        let is_meant = |run: &Run| run.request.log_id == log_id;
        if let Some(running) = lane.running.as_ref().filter(|run| is_meant(run)) {
            running.end(reason);
            return true;
        }
        let place = lane.queue.iter().position(|waiting| is_meant(&waiting.run));
        let Some(waiting) = place.and_then(|place| lane.queue.remove(place)) else {
            return false;
        };
        self.report(waiting.run.not_executed(reason));
        true
    }

    /// Ends all handlers at once, without a report.
    pub(crate) fn abort(&self) {
        self.aborted.cancel();
    }

    /// Ends all runs.
    pub(crate) fn end_everything(&self, reason: &str) {
        for lane in self.lock().lanes.values_mut() {
            self.end_all(lane, reason);
        }
    }

    /// Reports the runs whose handlers did not end; should they still, that is not reported any more.
    pub(crate) fn abandon(&self, reason: &str) {
        for lane in self.lock().lanes.values() {
            if let Some(run) = &lane.running {
                self.report(run.result(FAILURE, Some(format!("{reason} [job running, killed]"))));
            }
        }
    }

    /// Reports the waiting runs of a lane as not executed, and tells the running one to end.
    pub(super) fn end_all(&self, lane: &mut Lane, reason: &str) {
        for waiting in lane.queue.drain(..) {
            self.report(waiting.run.not_executed(reason));
        }
        if let Some(running) = &lane.running {
            running.end(reason);
        }
    }
}
