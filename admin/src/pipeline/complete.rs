//! Outcomes → the store: results that executors report, requests that were accepted, runs that could not be sent.
//!
//! Many at a time share one write. A report is answered when it is committed, never before; one that cannot be committed
//! is told so, and its HTTP request is not answered (an error answer makes some clients report the run as failed).

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::{Millis, RunState};
use tokio::sync::{Notify, oneshot};

use super::Pipeline;
use super::settings::ms;
use crate::runtime::Service;
use crate::store::adopt::Waiting;
use crate::store::give_back::Unsent;
use crate::store::settle::{Finding, FollowUp, Settled};

/// Findings of one write.
const BATCH: usize = 500;
/// Reports that may wait; beyond it they are not taken, and their executors repeat them.
const REPORTS_WAITING: usize = 20_000;
/// An accepted run is written `running` after this time, unless its result comes first and is written alone.
const ACCEPT_DELAY: Duration = Duration::from_millis(200);

/// The result could not be stored: do not answer.
#[derive(Debug, thiserror::Error)]
#[error("the result could not be stored")]
pub struct NotStored;

type Reply = oneshot::Sender<Result<(), NotStored>>;

#[derive(Default)]
struct Work {
    reports: VecDeque<(Vec<Finding>, Option<Reply>)>,
    accepted: HashMap<i64, (Millis, Duration)>,
    given_back: Vec<(Waiting, i64)>,
}

/// What waits to be written.
#[derive(Default)]
pub struct Queue {
    work: Mutex<Work>,
    waiting: AtomicUsize,
    pub wake: Arc<Notify>,
}

impl Queue {
    fn work(&self) -> std::sync::MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Results reported by an executor; answers after the commit.
    pub async fn report(&self, findings: Vec<Finding>) -> Result<(), NotStored> {
        if self.waiting.fetch_add(findings.len(), Ordering::Relaxed) > REPORTS_WAITING {
            self.waiting.fetch_sub(findings.len(), Ordering::Relaxed);
            return Err(NotStored);
        }
        let (reply, answer) = oneshot::channel();
        self.work().reports.push_back((findings, Some(reply)));
        self.wake.notify_one();
        answer.await.unwrap_or(Err(NotStored))
    }

    /// What this node found out itself; kept until it is written.
    pub fn found(&self, finding: Finding) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.work().reports.push_back((vec![finding], None));
        self.wake.notify_one();
    }

    pub fn accepted(&self, run_id: i64, sent_at: Millis, now: Duration) {
        self.work().accepted.insert(run_id, (sent_at, now));
    }

    /// `sending` → `claimed`: certainly not written; goes back into the ring.
    pub fn give_back(&self, run: Waiting, token: i64) {
        self.work().given_back.push((run, token));
        self.wake.notify_one();
    }

    pub fn is_empty(&self) -> bool {
        let work = self.work();
        work.reports.is_empty() && work.accepted.is_empty() && work.given_back.is_empty()
    }

    pub fn is_empty_but_accepted(&self) -> bool {
        let work = self.work();
        work.reports.is_empty() && work.given_back.is_empty()
    }

    fn take_reports(&self) -> Vec<(Vec<Finding>, Option<Reply>)> {
        let mut work = self.work();
        let mut taken = Vec::new();
        let mut count = 0;
        while count < BATCH {
            let Some(report) = work.reports.pop_front() else {
                break;
            };
            count += report.0.len();
            taken.push(report);
        }
        self.waiting.fetch_sub(count, Ordering::Relaxed);
        taken
    }

    fn take_accepted(&self, before: Duration) -> Vec<(i64, Millis)> {
        let mut work = self.work();
        let ripe = work.accepted.extract_if(|_, (_, since)| *since <= before);
        ripe.map(|(run_id, (sent_at, _))| (run_id, sent_at))
            .collect()
    }
}

pub struct Complete(pub Arc<Pipeline>);

#[async_trait]
impl Service for Complete {
    fn name(&self) -> &'static str {
        "complete"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.0.outcomes.wake.clone())
    }

    fn linger(&self) -> Duration {
        Duration::from_millis(5)
    }

    async fn step(&self) -> Duration {
        let mut written = self.write_given_back().await;
        written &= self.write_reports().await;
        written &= self.write_accepted().await;
        written &= self.0.stories.write(&self.0.store).await;
        let work = self.0.outcomes.work();
        match (
            written,
            work.reports.is_empty() && work.given_back.is_empty(),
        ) {
            (false, _) => Duration::from_millis(200),
            (true, false) => Duration::ZERO,
            (true, true) => Duration::from_millis(50),
        }
    }
}

impl Complete {
    async fn write_reports(&self) -> bool {
        let mut taken = self.0.outcomes.take_reports();
        if taken.is_empty() {
            return true;
        }
        let mut findings = Vec::new();
        for (report, _) in &mut taken {
            findings.extend(report.iter().cloned());
        }
        self.add_sent_at(&mut findings);
        let follow_up = FollowUp {
            now: self.0.clock.now(),
            jitter: rand::random(),
        };
        match self.0.store.settle(&findings, &follow_up).await {
            Ok(settled) => {
                self.tell(&findings, &settled);
                for (_, reply) in taken {
                    reply.map(|reply| reply.send(Ok(())));
                }
                true
            }
            Err(error) => {
                tracing::warn!(%error, findings = findings.len(), "results could not be stored; they are repeated");
                self.put_back(taken);
                false
            }
        }
    }

    /// When the request left, if it was ours; and its `accepted` need not be written any more.
    fn add_sent_at(&self, findings: &mut [Finding]) {
        let mut work = self.0.outcomes.work();
        for finding in findings {
            let accepted = work
                .accepted
                .remove(&finding.run_id)
                .map(|(sent_at, _)| sent_at);
            finding.sent_at = finding
                .sent_at
                .or(accepted)
                .or_else(|| self.0.in_flight.settled(finding.run_id));
        }
    }

    /// Our own findings are kept; a report's executor repeats it.
    fn put_back(&self, taken: Vec<(Vec<Finding>, Option<Reply>)>) {
        let mut work = self.0.outcomes.work();
        for (findings, reply) in taken.into_iter().rev() {
            match reply {
                Some(reply) => drop(reply.send(Err(NotStored))),
                None => {
                    self.0
                        .outcomes
                        .waiting
                        .fetch_add(findings.len(), Ordering::Relaxed);
                    work.reports.push_front((findings, None));
                }
            }
        }
    }

    pub(super) fn tell(&self, findings: &[Finding], settled: &Settled) {
        for (run_id, state) in &settled.changed {
            self.0
                .metrics
                .settled
                .with_label_values(&[state.as_str()])
                .inc();
            if matches!(state, RunState::Failed | RunState::Unknown | RunState::Lost) {
                let finding = findings.iter().find(|finding| finding.run_id == *run_id);
                let message = finding
                    .and_then(|f| f.message.as_deref().or(f.reason))
                    .unwrap_or("");
                tracing::info!(run.id = run_id, state = %state, message, "a run failed");
            }
        }
        for alarm in &settled.alarms {
            self.0.tell_alarm(alarm);
        }
        let now = self.0.clock.now();
        let ended = settled.changed.iter().map(|(run_id, _)| *run_id);
        self.0.backfills.ended(ended.clone());
        for run in self.0.overlaps.ended(ended) {
            self.0.ring().remove(run.run_id);
            self.0.put_in_ring(run, now);
        }
        for shard in &settled.to_scan {
            self.0.job_changed(*shard);
        }
    }

    async fn write_accepted(&self) -> bool {
        let ripe = self
            .0
            .outcomes
            .take_accepted(self.0.clock.monotonic().saturating_sub(ACCEPT_DELAY));
        let mut written = true;
        for chunk in ripe.chunks(BATCH) {
            if let Err(error) = self.0.store.accept(chunk).await {
                tracing::warn!(%error, "accepted runs could not be written yet");
                let now = self.0.clock.monotonic();
                chunk
                    .iter()
                    .for_each(|(run_id, sent_at)| self.0.outcomes.accepted(*run_id, *sent_at, now));
                written = false;
            }
        }
        written
    }

    async fn write_given_back(&self) -> bool {
        let given_back = std::mem::take(&mut self.0.outcomes.work().given_back);
        if given_back.is_empty() {
            return true;
        }
        let unsent: Vec<Unsent> = given_back
            .iter()
            .map(|(run, token)| Unsent {
                run_id: run.run_id,
                token: *token,
                bound: run.bound_to.is_some(),
            })
            .collect();
        if let Err(error) = self.0.store.unmark(&unsent, self.0.clock.now()).await {
            tracing::warn!(%error, "runs that were not sent could not be given back yet");
            self.0.outcomes.work().given_back.extend(given_back);
            return false;
        }
        // One that was settled or cancelled meanwhile is refused by its mark.
        let again_at = self.0.clock.now() + ms(self.0.settings.tick_every);
        for (run, _) in given_back {
            self.0.put_in_ring(run, again_at);
        }
        true
    }
}
