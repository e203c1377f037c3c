//! One request for each marked run, at its time, and what its outcome leads to.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::{BlockStrategy, FireKey, Millis, RunEvent};

use crate::Pipeline;
use crate::dispatch::in_flight::Flight;
use crate::dispatch::route::router::Routed;
use crate::executor::address_gate::{Address, Left, Place};
use crate::executor::client::{RunHeaders, RunRequest};
use crate::executor::outcome::Outcome;
use crate::failpoint;
use crate::plan::job_cache::Job;
use crate::settings::ms;
use crate::store::job::job_row::{Definition, MOST_PARAMS, Params};
use crate::store::run::adopt::Waiting;
use crate::store::run::settle::outcomes::Finding;

/// What a mark has in common for its whole batch.
#[derive(Clone, Copy, Debug)]
pub struct Marked {
    pub token: i64,
    pub marked_at: Millis,
    /// When the mark was asked for, on the monotonic clock.
    pub asked: Duration,
}

struct Delivery {
    pipeline: Arc<Pipeline>,
    routed: Routed,
    marked: Marked,
    params: Option<String>,
}

pub fn spawn(pipeline: &Arc<Pipeline>, batch: Vec<Routed>, marked: Marked, params: Vec<(i64, String)>) {
    let mut params: HashMap<i64, String> = params.into_iter().collect();
    let mut by_due: BTreeMap<Millis, Vec<Delivery>> = BTreeMap::new();
    for routed in batch {
        let params = params.remove(&routed.run.run_id);
        if is_unsendable(&routed.choice.job, params.as_ref()) {
            pipeline.outcomes.found(unsendable(routed.run.run_id));
            continue;
        }
        let delivery = Delivery { pipeline: pipeline.clone(), routed, marked, params };
        by_due.entry(delivery.routed.run.due_at).or_default().push(delivery);
    }
    for (due_at, deliveries) in by_due {
        pipeline.sends.spawn(start_at(pipeline.clone(), due_at, deliveries));
    }
}

/// One timer for all that leave at the same instant.
async fn start_at(pipeline: Arc<Pipeline>, due_at: Millis, deliveries: Vec<Delivery>) {
    let due_in = due_at - pipeline.clock.now();
    if due_in > 0 {
        tokio::time::sleep(Duration::from_millis(due_in as u64)).await;
    }
    for delivery in deliveries {
        pipeline.sends.spawn(delivery.run());
    }
}

/// The body of a run's request. `params`: those that were given with its fire.
pub fn request(run: &Waiting, job: &Job, params: Option<String>) -> RunRequest {
    let block = job.rules.as_ref().map_or(BlockStrategy::default(), |rules| rules.block);
    let job = &job.stored;
    RunRequest {
        job_id: i32::try_from(run.job_id).unwrap_or(i32::MAX),
        handler: job.handler.clone(),
        params: params.unwrap_or_else(|| own_params(job)),
        block_strategy: block_word(block).to_owned(),
        timeout_seconds: job.timeout_seconds,
        log_id: run.run_id,
        log_date_time: run.due_at,
        glue_type: "BEAN".into(),
        glue_source: String::new(),
        glue_updatetime: job.updated_at,
        broadcast_index: run.part,
        broadcast_total: run.parts,
    }
}

/// The word of the protocol for a block strategy.
const fn block_word(strategy: BlockStrategy) -> &'static str {
    match strategy {
        BlockStrategy::Serial => carillon_protocol::BlockStrategy::Serial,
        BlockStrategy::DiscardLater => carillon_protocol::BlockStrategy::DiscardLater,
        BlockStrategy::CoverEarly => carillon_protocol::BlockStrategy::CoverEarly,
    }
    .as_str()
}

/// What is too long is refused before a request is made of it.
fn own_params(job: &Definition) -> String {
    match &job.params {
        Params::Here(text) => text.clone(),
        Params::Apart | Params::TooLong => String::new(),
    }
}

/// The job's own parameters cannot be sent, and none were given with the fire.
pub fn is_unsendable(job: &Job, given: Option<&String>) -> bool {
    given.is_none() && job.stored.params == Params::TooLong
}

fn unsendable(run_id: i64) -> Finding {
    Finding {
        run_id,
        event: RunEvent::Refused,
        code: None,
        message: Some(format!("the parameters of its job have more than {MOST_PARAMS} bytes; the run was not sent")),
        reason: Some("refused"),
        sent_at: None,
    }
}

/// What travels beside it. An executor that gets it after `not_after` must refuse it.
pub fn headers<'a>(run: &Waiting, job: &'a Job, not_after: Millis) -> RunHeaders<'a> {
    let key = FireKey { job_id: run.job_id, cause: run.cause, fire_no: run.fire_no, part: run.part };
    RunHeaders {
        app: &job.stored.app,
        fire_key: key.to_string(),
        scheduled_at: run.scheduled_at,
        attempt: run.attempt,
        epoch: run.epoch,
        not_after,
        journal_id: None,
    }
}

/// What happened at one address.
enum Step {
    Done,
    /// Nothing was written: the next candidate may have it.
    Next(String),
    /// No room there now, and nothing was written either; unlike an address that is gone it may have room again soon.
    Busy,
    /// Marked too long ago, or the address closed while it waited.
    GiveBack,
}

impl Delivery {
    async fn run(mut self) {
        let (mut why, mut busy) = (Vec::new(), false);
        for index in 0..self.routed.candidates.len() {
            match self.at(index).await {
                Step::Done => return self.tell(),
                Step::GiveBack => return self.give_back(),
                Step::Next(reason) => {
                    let address = &self.routed.candidates[index].address;
                    self.routed.choice.hop(address, &reason);
                    why.push(format!("{address}: {reason}"));
                }
                Step::Busy if self.routed.has_affinity() => return self.give_back(),
                Step::Busy => busy = true,
            }
        }
        if busy {
            return self.give_back();
        }
        self.tell();
        self.found(RunEvent::NoExecutor, None, why.join("; "), "no_executor", None);
    }

    /// What the mark has not written already.
    fn tell(&self) {
        if let Some(story) = &self.routed.choice.story {
            self.pipeline.stories.add(self.routed.run.run_id, story);
        }
    }

    fn give_back(self) {
        let token = self.marked.token;
        self.pipeline.given_back.add(self.routed.run, token);
    }

    async fn at(&self, index: usize) -> Step {
        let candidate = &self.routed.candidates[index];
        let address = self.pipeline.addresses.get(&candidate.address);
        let Some(later_place) = self.place(index, &address) else {
            return Step::Busy;
        };
        let probe = later_place.as_ref().unwrap_or(&self.routed.place).probe;
        let may_leave = index + 1 < self.routed.candidates.len() && !self.routed.has_affinity();
        let _slot = match address.slot(probe, may_leave, &*self.pipeline.clock).await {
            Ok(slot) => slot,
            Err(Left::Stalled) => return Step::Busy,
            Err(Left::Closed) => return Step::GiveBack,
        };
        if self.is_stale() {
            return Step::GiveBack;
        }
        if index > 0 && !self.redirect(index).await {
            return Step::GiveBack;
        }
        // The database may have taken its time.
        if self.is_stale() {
            return Step::GiveBack;
        }
        let (outcome, flight) = self.post(&candidate.address).await;
        if address.note(&outcome, self.pipeline.clock.monotonic(), self.pipeline.settings.breaker) {
            tracing::warn!(executor.address = candidate.address, send.outcome = ?outcome, "the executor is left alone for a while");
        }
        self.conclude(outcome, flight)
    }

    /// The first candidate counts this run since it was routed.
    fn place(&self, index: usize, address: &Arc<Address>) -> Option<Option<Place>> {
        if index == 0 {
            return Some(None);
        }
        address.enter(self.pipeline.clock.monotonic(), self.pipeline.settings.waiting).ok().map(Some)
    }

    fn is_stale(&self) -> bool {
        self.pipeline.clock.monotonic().saturating_sub(self.marked.asked) > self.pipeline.settings.send_limit
    }

    /// The address is in the row before a byte goes to it. False: the run is not ours to send any more, or its job was
    /// edited since its mark; nothing was written.
    async fn redirect(&self, index: usize) -> bool {
        let next = &self.routed.candidates[index];
        let run_id = self.routed.run.run_id;
        match self
            .pipeline
            .store
            .redirect(run_id, self.marked.token, &next.address, next.boot_id.as_deref(), next.journal_id.as_deref())
            .await
        {
            Ok(ours) => ours,
            Err(error) => {
                tracing::warn!(%error, run.id = run_id, "the next executor could not be noted; the run goes back");
                false
            }
        }
    }

    async fn post(&self, address: &str) -> (Outcome, Option<Flight>) {
        let run = &self.routed.run;
        let sent_at = self.pipeline.clock.now();
        let underway = self.pipeline.in_flight.begin(run.run_id, sent_at);
        self.pipeline.metrics.in_flight.inc();
        self.pipeline.metrics.lateness.observe((sent_at - run.due_at) as f64 / 1000.0);
        let request = request(run, &self.routed.choice.job, self.params.clone());
        let until = self.marked.marked_at + 2 * ms(self.pipeline.settings.send_limit);
        let headers = headers(run, &self.routed.choice.job, until);
        // Boxed: the client's future is large, and the task would be copied with it.
        failpoint::hit_when_written("after_request_written");
        let outcome = Box::pin(self.pipeline.client.run(address, &request, &headers)).await;
        failpoint::hit("after_answer_read");
        self.pipeline.metrics.in_flight.dec();
        (outcome, underway.end())
    }

    fn conclude(&self, outcome: Outcome, flight: Option<Flight>) -> Step {
        let run_id = self.routed.run.run_id;
        self.pipeline.metrics.sends.with_label_values(&[outcome.name()]).inc();
        match outcome {
            Outcome::Accepted => {
                if let Some(sent_at) = flight.filter(|flight| !flight.settled).map(|flight| flight.sent_at) {
                    self.pipeline.outcomes.accepted(run_id, sent_at, self.pipeline.clock.monotonic());
                }
                Step::Done
            }
            Outcome::Refused { code, message } => {
                self.found(RunEvent::Refused, Some(code), message, "refused", flight.map(|flight| flight.sent_at));
                Step::Done
            }
            Outcome::NotSent { why } => Step::Next(why),
            Outcome::Unknown { why, .. } => {
                // The row stays `sending`: a callback or the resolver settles it. It is never sent elsewhere blindly.
                tracing::info!(run.id = run_id, reason = why, "the outcome of a request is unknown");
                Step::Done
            }
        }
    }

    fn found(
        &self,
        event: RunEvent,
        code: Option<i32>,
        message: String,
        reason: &'static str,
        sent_at: Option<Millis>,
    ) {
        let run: &Waiting = &self.routed.run;
        self.pipeline.outcomes.found(Finding {
            run_id: run.run_id,
            event,
            code,
            message: Some(message),
            reason: Some(reason),
            sent_at,
        });
    }
}
