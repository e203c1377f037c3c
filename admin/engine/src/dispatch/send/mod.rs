//! The requests of marked runs start at their instant: together where they may travel together.

mod batch;
mod http;
pub(crate) mod observed_starts;
mod queue;
mod secrets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{Cause, Millis, RunEvent, RunReason};
use carillon_store::job::job_row::MOST_PARAMS;
use carillon_store::run::adopt::ClaimedRun;

use crate::dispatch::send::batch::group;
use crate::dispatch::send::queue::send_single;
use crate::dispatch::send_task::{SendTask, Sender};
use crate::dispatch::stages::MarkedRun;
use crate::executor::request::is_unsendable;
use crate::job_cache::CachedJob;

impl Sender {
    pub fn send(self: &Arc<Self>, batch: Vec<MarkedRun>) {
        let now = self.cx.clock.now();
        let mut by_due: BTreeMap<Millis, Vec<SendTask>> = BTreeMap::new();
        for marked in batch {
            if is_unsendable(&marked.routed.decision.job, marked.params.as_ref()) {
                let message =
                    format!("the parameters of its job have more than {MOST_PARAMS} bytes; the run was not sent");
                self.outcomes.report_internal(marked.routed.run.run_id, RunEvent::Refused, RunReason::Refused, message);
                continue;
            }
            // All that is overdue leaves together.
            let due_at = marked.routed.run.due_at.max(now);
            by_due.entry(due_at).or_default().push(SendTask { sender: self.clone(), marked });
        }
        for (due_at, tasks) in by_due {
            if due_at > now && tasks.iter().any(|task| task.marked.routed.run.cause == Cause::Schedule) {
                self.departures.expect(due_at);
            }
            self.tasks.spawn(self.clone().start_at(due_at, tasks));
        }
    }

    /// A request for the run is about to leave.
    pub(in crate::dispatch) fn observe_departure(&self, run: &ClaimedRun, job: &CachedJob, sent_at: Millis) {
        self.cx.metrics.observe_lateness(&job.stored.app, sent_at - run.due_at);
    }

    /// A request for the run has left, or may have: one that certainly has not is no start.
    pub(in crate::dispatch) fn observe_start(&self, run: &ClaimedRun, job: &CachedJob, sent_at: Millis) {
        self.starts.record(run, job, sent_at);
    }

    /// One timer for all that leave at the same instant.
    async fn start_at(self: Arc<Self>, due_at: Millis, tasks: Vec<SendTask>) {
        let due_in = due_at - self.cx.clock.now();
        if due_in > 0 {
            tokio::time::sleep(Duration::from_millis(due_in as u64)).await;
        }
        let (naming, plain): (Vec<_>, Vec<_>) = tasks.into_iter().partition(SendTask::names_secrets);
        if !naming.is_empty() {
            // The others do not wait for the database.
            let sender = self.clone();
            self.tasks.spawn(async move {
                let ready = sender.with_secrets(naming).await;
                sender.start(ready);
            });
        }
        self.start(plain);
    }

    fn start(self: &Arc<Self>, tasks: Vec<SendTask>) {
        let (batches, single) = group(self, tasks);
        for batch in batches {
            self.tasks.spawn(batch.run());
        }
        send_single(self, single);
    }
}
