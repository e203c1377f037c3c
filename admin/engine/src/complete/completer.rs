//! Outcomes → the store: results that executors report, requests that were accepted, and what this node finds out itself.
//!
//! Many at a time share one write. A report is answered when it is committed, never before; the HTTP request of one that
//! cannot be committed is not answered (an error answer makes some clients report the run as failed).
//!
//! No report holds up another: successes are written first, by one statement; then the others, by one transaction. When that fails
//! it is halved until the report that cannot be written is alone.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::AlarmKind;
use foldhash::{HashSet, HashSetExt as _};
use tokio::sync::Notify;

use crate::complete::effects::Effects;
use crate::complete::outcome_queue::{BATCH, Failure, Lane, OutcomeQueue, PendingReport};
use crate::complete::refused_reports::RefusedReports;
use crate::context::Context;
use crate::dispatch::trace::TraceBuffer;
use crate::runtime::{Service, Step};
use carillon_store as store;
use carillon_store::run::lock::LockMode;
use carillon_store::run::settle::finding::{RunReport, SettleContext, Settlement};
use carillon_store::run::settle::outcomes::{dedupe_by_run, successes};

/// Waited after a report, for those that come with it.
const LINGER: Duration = Duration::from_millis(5);
/// An accepted run is written `running` after this time, unless its result comes first and is written alone.
const ACCEPT_DELAY: Duration = Duration::from_millis(200);

pub struct Completer {
    pub cx: Arc<Context>,
    pub outcomes: Arc<OutcomeQueue>,
    pub traces: Arc<TraceBuffer>,
    pub effects: Arc<Effects>,
    pub refused: Arc<RefusedReports>,
}

/// Reports of one transaction if they are no successes: it is short, so that successes, marks and claims get between two.
const OTHERS: usize = 250;

/// What became of a batch.
#[derive(Default)]
struct Written {
    settled: Settlement,
    /// Runs of which the report failed alone, with the reason if it is not a row that cannot be read.
    failed: Vec<(i64, Option<store::Error>)>,
    /// The database takes nothing: these wait as they are.
    refused: HashSet<i64>,
    error: Option<store::Error>,
}

/// What a round wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompleteReport {
    /// Runs that have reached another state.
    pub settled: usize,
    /// Runs that an executor has accepted.
    pub accepted: usize,
    /// Not everything could be written: it is tried again soon.
    pub has_failed: bool,
}

impl Service for Completer {
    const NAME: &'static str = "complete";
    const LINGER: Duration = LINGER;
    type Report = CompleteReport;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.outcomes.wake.clone())
    }

    async fn step(&self) -> Step<CompleteReport> {
        let mut did = CompleteReport::default();
        self.write_reports(Lane::Successes, &mut did).await;
        self.write_reports(Lane::Others, &mut did).await;
        self.write_accepted(&mut did).await;
        did.has_failed |= !self.traces.write(&self.cx.store).await;
        self.cx.alarm_unreadable_rows().await;
        self.pause(did, Lane::Others)
    }
}

/// Writes successes while [`Completer`] writes failures: an app of which every run fails must not delay the callbacks of others.
pub struct SuccessWriter(pub Arc<Completer>);

impl Service for SuccessWriter {
    const NAME: &'static str = "successes";
    const LINGER: Duration = LINGER;
    type Report = CompleteReport;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.0.outcomes.wake_successes.clone())
    }

    async fn step(&self) -> Step<CompleteReport> {
        let mut did = CompleteReport::default();
        self.0.write_reports(Lane::Successes, &mut did).await;
        self.0.pause(did, Lane::Successes)
    }
}

impl Completer {
    fn pause(&self, did: CompleteReport, lane: Lane) -> Step<CompleteReport> {
        let next = if did.has_failed {
            Duration::from_millis(200)
        } else if self.outcomes.has_reports(lane) {
            Duration::ZERO
        } else if self.outcomes.has_waiting() {
            Duration::from_millis(50)
        } else {
            // What comes wakes it.
            Duration::from_secs(1)
        };
        Step { did, next }
    }

    async fn write_accepted(&self, did: &mut CompleteReport) {
        let due = self.outcomes.take_accepted(self.cx.clock.monotonic().saturating_sub(ACCEPT_DELAY));
        for chunk in due.runs.chunks(BATCH) {
            match self.cx.store.runs().accept_runs(chunk).await {
                Ok(_) => did.accepted += chunk.len(),
                Err(error) => {
                    tracing::warn!(%error, "accepted runs could not be written yet");
                    let now = self.cx.clock.monotonic();
                    chunk.iter().for_each(|run| self.outcomes.accepted(*run, now));
                    did.has_failed = true;
                }
            }
        }
    }

    async fn write_reports(&self, lane: Lane, did: &mut CompleteReport) {
        let now = self.cx.clock.monotonic();
        let mut taken = self.outcomes.take_reports(lane, now);
        if taken.is_empty() {
            return;
        }
        for pending in &mut taken {
            self.fill_sent_at(&mut pending.reports);
        }
        let reports: Vec<RunReport> = taken.iter().flat_map(|it| it.reports.clone()).collect();
        let mut written = self.write(&reports, now).await;
        if let Some(error) = &written.error {
            let reports = written.refused.len();
            tracing::warn!(%error, report.count = reports, "results could not be stored; they are repeated");
        }
        did.settled += written.settled.changed.len();
        self.effects.apply(&reports, &written.settled);
        self.refused.record(&written.settled).await;
        for run_id in written.settled.unreadable.clone() {
            written.failed.push((run_id, None));
        }
        let mut failed: HashSet<i64> = HashSet::new();
        for (run_id, error) in std::mem::take(&mut written.failed) {
            let report = reports.iter().find(|report| report.run_id == run_id);
            if !self.note_failure(run_id, report, error, now).await {
                failed.insert(run_id);
            }
        }
        self.answer(taken, &written, &failed, now);
        did.has_failed |= written.error.is_some();
    }

    #[tracing::instrument(name = "settle", level = "debug", skip_all, fields(report.count = reports.len()))]
    async fn write(&self, reports: &[RunReport], now: Duration) -> Written {
        let queue = &self.outcomes;
        let follow_up = SettleContext {
            now: self.cx.clock.now(),
            jitter: rand::random(),
            restored: self.cx.metrics.shards_stopped.get() > 0,
        };
        let mut written = Written::default();
        // What has failed alone is tried alone, and not before its time.
        let (mut fresh, mut alone) = (vec![], vec![]);
        for report in dedupe_by_run(reports) {
            match queue.retry_due(report.run_id, now) {
                None => fresh.push(report),
                Some(true) => alone.push(report),
                Some(false) => {
                    written.settled.held_up.push(report.run_id);
                }
            }
        }
        match self.cx.store.runs().settle_successes(&fresh, follow_up.now).await {
            Ok(done) => {
                fresh.retain(|report| !done.contains(&report.run_id));
                written.settled.changed.extend(successes(done));
            }
            Err(error) if error.is_outage() => {
                written.refused.extend(fresh.iter().map(|it| it.run_id));
                written.refused.extend(alone.iter().map(|it| it.run_id));
                written.error = Some(error);
                return written;
            }
            // One of them is held up, or cannot be written: the others are found one step further on.
            Err(error) => tracing::debug!(%error, "successes are written with the other results"),
        }
        let mut parts: Vec<Vec<&RunReport>> = alone.chunks(1).map(<[_]>::to_vec).collect();
        parts.extend(fresh.chunks(OTHERS).map(<[_]>::to_vec));
        while let Some(part) = parts.pop() {
            match self.cx.store.runs().settle_others(&part, &follow_up, LockMode::SkipLocked).await {
                Ok(settled) => {
                    for report in part.iter().filter(|_| part.len() == 1) {
                        if settled.unreadable.is_empty() {
                            queue.clear_failure(report.run_id);
                        }
                    }
                    written.settled.add(settled);
                }
                Err(error) if error.is_outage() => {
                    let rest = parts.drain(..).flatten().chain(part);
                    written.refused.extend(rest.map(|it| it.run_id));
                    written.error = Some(error);
                }
                Err(error) if part.len() == 1 => {
                    written.failed.push((part[0].run_id, Some(error)));
                }
                Err(error) => {
                    tracing::debug!(%error, report.count = part.len(), "results are written in two halves");
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second.to_vec(), first.to_vec()]);
                }
            }
        }
        written
    }

    /// When the request left, if it was ours; and its `accepted` need not be written any more.
    fn fill_sent_at(&self, reports: &mut [RunReport]) {
        self.outcomes.take_accepted_of(reports);
        for report in reports {
            report.sent_at = report.sent_at.or_else(|| self.outcomes.in_flight.settled(report.run_id));
        }
    }

    /// `error`: None if the row of the run cannot be read. True: the report is given up, and answered as if it were written.
    async fn note_failure(
        &self,
        run_id: i64,
        report: Option<&RunReport>,
        error: Option<store::Error>,
        now: Duration,
    ) -> bool {
        let passes = error.as_ref().is_some_and(store::Error::is_transient);
        match (self.outcomes.record_failure(run_id, passes, now), error) {
            (Failure::First, Some(error)) => {
                let text = format!("what became of run {run_id} cannot be stored: {error}");
                self.cx.raise_alarm(AlarmKind::Stuck, None, Some(run_id), text).await;
                false
            }
            (Failure::First | Failure::Repeated, _) => false,
            (Failure::Final, error) => {
                let source = report.and_then(|it| it.reporter.as_ref()).map(|reporter| reporter.source.as_str());
                let reason =
                    error.map_or_else(|| "the row of the run cannot be read".to_owned(), |error| error.to_string());
                tracing::error!(
                    run.id = run_id,
                    client.address = source,
                    reason,
                    "a result could not be stored for ten minutes; it is answered and dropped"
                );
                self.cx.metrics.results_dropped.inc();
                true
            }
        }
    }

    /// A report is answered when all of it is committed. What is left of one waits behind the others. Its request is not
    /// answered if a part has failed: its executor repeats it.
    fn answer(&self, taken: Vec<PendingReport>, written: &Written, failed: &HashSet<i64>, now: Duration) {
        let held_up: HashSet<i64> = written.settled.held_up.iter().copied().collect();
        for mut pending in taken {
            let mut left = std::mem::take(&mut pending.reports);
            left.retain(|report| {
                let run_id = &report.run_id;
                held_up.contains(run_id) || failed.contains(run_id) || written.refused.contains(run_id)
            });
            if left.is_empty() {
                pending.reply(true);
                continue;
            }
            let can_wait = left.iter().all(|report| {
                let is_held_up = held_up.contains(&report.run_id);
                is_held_up && self.outcomes.retry_due(report.run_id, now).is_none()
            });
            if !can_wait {
                pending.reply(false);
            }
            // The database takes nothing: that is no fault of this report, and it is written as soon as the database is back.
            if written.error.is_some() {
                pending.forget_pause();
            }
            self.outcomes.park(pending, left, now);
        }
    }
}
