//! Outcomes → the store: results that executors report, requests that were accepted, and what this node finds out itself.
//!
//! Many at a time share one write. A report is answered when it is committed, never before; the HTTP request of one that
//! cannot be committed is not answered (an error answer makes some clients report the run as failed).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::complete::effects::Effects;
use crate::complete::outcome_queue::{BATCH, Lane, OutcomeQueue};
use crate::complete::refused_reports::RefusedReports;
use crate::context::Context;
use crate::dispatch::trace::TraceBuffer;
use crate::runtime::{Service, Step};

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
            match self.cx.store.accept_runs(chunk).await {
                Ok(_) => did.accepted += chunk.len(),
                Err(error) => {
                    tracing::warn!(%error, "accepted runs could not be written yet");
                    let now = self.cx.clock.monotonic();
                    chunk.iter().for_each(|(run_id, sent_at)| self.outcomes.accepted(*run_id, *sent_at, now));
                    did.has_failed = true;
                }
            }
        }
    }
}
