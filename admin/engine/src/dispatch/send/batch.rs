//! The runs that are due together for one executor, in one request: for executors that announce the capability `batch`.

use std::mem;
use std::sync::Arc;

use carillon_protocol::{BatchRun, MAX_BATCH_RUNS, RunAnswer, RunBatch, SUCCESS};
use carillon_scheduler::Millis;
use foldhash::{HashMap, HashMapExt as _};

use crate::complete::in_flight::{RequestGuard, SendInFlight};
use crate::dispatch::departures::gives_way;
use crate::dispatch::send_task::{SendTask, Sender, not_after};
use crate::dispatch::stages::MarkedRun;
use crate::executor::directory::RegisteredExecutor;
use crate::executor::outcome::{Outcome, plausible_moment, unknown};
use crate::executor::request::{BodyParts, body, headers, size_at_most};
use carillon_store::db::failpoint;

/// Bytes of the runs of one request, as JSON; the executor takes 5 MiB in all.
const MOST_BYTES: usize = 4 << 20;

/// Runs of one app for one executor.
pub struct SendBatch {
    sender: Arc<Sender>,
    app: String,
    address: String,
    tasks: Vec<SendTask>,
}

/// Puts together what may travel together. Alone travel the runs for stock executors, scripts with their sources, and the one run that finds out whether a
/// closed address is back.
pub fn group(sender: &Arc<Sender>, tasks: Vec<SendTask>) -> (Vec<SendBatch>, Vec<SendTask>) {
    let mut by_executor: HashMap<(i64, *const RegisteredExecutor), Vec<SendTask>> = HashMap::new();
    let (mut batches, mut single) = (vec![], vec![]);
    for task in tasks {
        let routed = &task.marked.routed;
        match routed.candidates.first() {
            Some(candidate)
                if candidate.takes_batches && !routed.reservation.is_probe() && task.marked.script.is_none() =>
            {
                let key = (routed.decision.job.stored.app_id, std::ptr::from_ref(&**candidate));
                by_executor.entry(key).or_default().push(task);
            }
            _ => single.push(task),
        }
    }
    for tasks in by_executor.into_values() {
        let routed = &tasks[0].marked.routed;
        let (app, address) = (routed.decision.job.stored.app.clone(), routed.candidates[0].address.clone());
        for mut tasks in split(tasks) {
            match tasks.len() {
                1 => single.append(&mut tasks),
                _ => batches.push(SendBatch {
                    sender: sender.clone(),
                    app: app.clone(),
                    address: address.clone(),
                    tasks,
                }),
            }
        }
    }
    (batches, single)
}

/// By the limits of one request.
fn split(tasks: Vec<SendTask>) -> Vec<Vec<SendTask>> {
    let (mut full, mut open, mut size) = (vec![], vec![], 0);
    for task in tasks {
        let bytes = {
            let MarkedRun { routed, params, secret_params, .. } = &task.marked;
            size_at_most(&routed.decision.job, params.as_ref(), secret_params.as_ref().map(|it| it.text.as_str()))
        };
        if open.len() == MAX_BATCH_RUNS || (size + bytes > MOST_BYTES && !open.is_empty()) {
            full.push(mem::take(&mut open));
            size = 0;
        }
        size += bytes;
        open.push(task);
    }
    full.push(open);
    full
}

impl SendBatch {
    pub async fn run(mut self) {
        let sender = self.sender.clone();
        if self.tasks.iter().all(|task| gives_way(task.marked.routed.run.cause)) {
            sender.departures.give_way(&*sender.cx.clock).await;
        }
        // A job that was read before its app was renamed has the former name.
        let executor = &self.tasks[0].marked.routed.candidates[0];
        let gate = sender.addresses.get(&executor.app, &executor.address);
        let has_fallback = self.tasks.iter().all(|task| task.has_fallback(0));
        let Ok(_slot) = gate.slot(false, has_fallback, &*sender.cx.clock).await else {
            // Each run sees by itself whether it may go elsewhere.
            return self.send_each();
        };
        let (stale, fresh): (Vec<_>, Vec<_>) = self.tasks.into_iter().partition(SendTask::is_stale);
        self.tasks = fresh;
        stale.into_iter().for_each(SendTask::unmark);
        if self.tasks.is_empty() {
            return;
        }
        let sent_at = sender.cx.clock.now();
        let begin = |task: &SendTask| sender.outcomes.in_flight.begin(task.marked.routed.run.run_id, sent_at);
        let under_way: Vec<RequestGuard<'_>> = self.tasks.iter().map(begin).collect();
        let answers = self.post(sent_at).await;
        let of_address = answers.as_ref().map_or_else(Outcome::clone, |_| Outcome::Accepted);
        // It may repeat the secrets of any of them.
        let of_address = self.tasks.iter().fold(of_address, |outcome, task| task.without_secrets(outcome));
        if gate.record_outcome(&of_address, sender.cx.clock.monotonic(), sender.cx.settings.breaker) {
            tracing::warn!(executor.address = self.address, send.outcome = ?of_address, "the executor is left alone for a while");
        }
        match answers {
            // Refused as a whole, as by a program of an earlier version: no run has started, and each gets its own answer.
            Err(Outcome::Refused { .. }) => {
                drop(under_way);
                self.send_each();
            }
            answers => self.conclude(&answers, under_way, sent_at),
        }
    }

    fn send_each(self) {
        for task in self.tasks {
            self.sender.tasks.spawn(task.run());
        }
    }

    /// One request for all, and the answer for each run.
    async fn post(&self, sent_at: Millis) -> Result<HashMap<i64, RunAnswer>, Outcome> {
        let cx = &self.sender.cx;
        let runs = self.tasks.iter().map(|task| {
            let (routed, job) = (&task.marked.routed, &task.marked.routed.decision.job);
            self.sender.observe_departure(&routed.run, job, sent_at);
            let headers = headers(&cx.cluster, &routed.run, job, not_after(&task.marked.stamp, cx));
            let secret = task.marked.secret_params.as_ref().map(|it| it.text.as_str());
            BatchRun {
                run: body(&routed.run, job, BodyParts { given: task.marked.params.clone(), secret, script: None }),
                fire_key: headers.fire_key,
                scheduled_at: headers.scheduled_at,
                attempt: headers.attempt.unsigned_abs(),
                epoch: headers.epoch,
                not_after: headers.not_after,
                phase: headers.phase.map(str::to_owned),
                traceparent: Some(headers.traceparent.to_string()),
            }
        });
        let batch = RunBatch { runs: runs.collect() };
        cx.metrics.in_flight.inc();
        failpoint::hit_when_written("after_request_written");
        // Boxed: the client's future is large.
        let answers = Box::pin(self.sender.client.run_batch(&self.address, &self.app, &batch)).await;
        failpoint::hit("after_answer_read");
        cx.metrics.in_flight.dec();
        Ok(answers?.into_iter().map(|answer| (answer.log_id, answer)).collect())
    }

    fn conclude(
        self,
        answers: &Result<HashMap<i64, RunAnswer>, Outcome>,
        under_way: Vec<RequestGuard<'_>>,
        sent_at: Millis,
    ) {
        for (task, under_way) in self.tasks.into_iter().zip(under_way) {
            let answer = |answers: &HashMap<i64, RunAnswer>| answers.get(&task.marked.routed.run.run_id).cloned();
            let answer = answers.as_ref().map(answer);
            let received_at = answer.as_ref().ok().and_then(|answer| plausible_moment(answer.as_ref()?.received_at?));
            let outcome = task.without_secrets(answer.map_or_else(Outcome::clone, outcome));
            let routed = &task.marked.routed;
            if outcome.may_have_left() {
                self.sender.observe_start(&routed.run, &routed.decision.job, sent_at);
            }
            let in_flight = under_way.end().map(|it| SendInFlight { received_at, ..it });
            let result = task.classify(0, outcome, in_flight);
            task.after_first(result);
        }
    }
}

fn outcome(answer: Option<RunAnswer>) -> Outcome {
    match answer {
        Some(answer) if answer.code == SUCCESS => Outcome::Accepted,
        Some(answer) => Outcome::Refused { code: answer.code, message: answer.msg.unwrap_or_default() },
        None => unknown("the executor's answer leaves the run out".into()),
    }
}
