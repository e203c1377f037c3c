//! Outcomes → the store: results that executors report, requests that were accepted, and what this node finds out itself.
//!
//! Many at a time share one write. A report is answered when it is committed, never before; one that cannot be committed
//! is told so, and its HTTP request is not answered (an error answer makes some clients report the run as failed).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::RunState;
use tokio::sync::Notify;

use crate::Pipeline;
use crate::alarm::IN_THE_LOG;
use crate::runtime::Service;
use crate::store::run::settle::follow_up::cut;
use crate::store::run::settle::outcomes::{Finding, Settled};

use crate::complete::outcome_queue::Lane;

/// Findings of one write.
pub(crate) const BATCH: usize = 500;
/// Waited after a report, for those that come with it.
const LINGER: Duration = Duration::from_millis(5);
/// An accepted run is written `running` after this time, unless its result comes first and is written alone.
const ACCEPT_DELAY: Duration = Duration::from_millis(200);

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
        LINGER
    }

    async fn step(&self) -> Duration {
        let mut written = self.write_reports(Lane::Successes).await;
        written &= self.write_reports(Lane::Others).await;
        written &= self.write_accepted().await;
        written &= self.0.stories.write(&self.0.store).await;
        self.0.tell_of_unreadable().await;
        self.pause(written, Lane::Others)
    }
}

/// Writes successes while [`Complete`] writes failures: an app of which every run fails must not delay the callbacks of others.
pub struct Successes(pub Arc<Pipeline>);

#[async_trait]
impl Service for Successes {
    fn name(&self) -> &'static str {
        "successes"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.0.outcomes.wake_successes.clone())
    }

    fn linger(&self) -> Duration {
        LINGER
    }

    async fn step(&self) -> Duration {
        let complete = Complete(self.0.clone());
        let written = complete.write_reports(Lane::Successes).await;
        complete.pause(written, Lane::Successes)
    }
}

impl Complete {
    fn pause(&self, written: bool, lane: Lane) -> Duration {
        match (written, self.0.outcomes.has_reports(lane)) {
            (false, _) => Duration::from_millis(200),
            (true, true) => Duration::ZERO,
            (true, false) => Duration::from_millis(50),
        }
    }

    pub(crate) fn tell(&self, findings: &[Finding], settled: &Settled) {
        let by_run: HashMap<i64, &Finding> = findings.iter().map(|it| (it.run_id, it)).collect();
        for (run_id, state) in &settled.changed {
            self.0.metrics.settled.with_label_values(&[state.as_str()]).inc();
            if matches!(state, RunState::Failed | RunState::Unknown | RunState::Lost) {
                let finding = by_run.get(run_id);
                let said = finding.and_then(|f| f.message.as_deref().or(f.reason)).unwrap_or("");
                // Executors write this: as a quoted field it cannot pass for a line of the log.
                tracing::info!(run.id = run_id, run.state = %state, result.text = ?cut(said, IN_THE_LOG), "a run failed");
            }
        }
        if let Some(first) = settled.unsent.first() {
            let runs = settled.unsent.len();
            self.0.metrics.results_unsent.inc_by(runs as u64);
            tracing::warn!(
                run.count = runs,
                run.id = first,
                "results were reported for runs that were never sent; they change nothing"
            );
        }
        for alarm in &settled.alarms {
            self.0.tell_alarm(alarm);
        }
        let now = self.0.clock.now();
        let ended = settled.changed.iter().map(|(run_id, _)| *run_id);
        self.0.backfill_runs.ended(ended.clone());
        for run in self.0.overlaps.ended(ended) {
            self.0.ring().remove(run.run_id);
            self.0.put_in_ring(run, now);
        }
        for shard in &settled.to_scan {
            self.0.job_changed(*shard);
        }
    }

    async fn write_accepted(&self) -> bool {
        let ripe = self.0.outcomes.take_accepted(self.0.clock.monotonic().saturating_sub(ACCEPT_DELAY));
        let mut written = true;
        for chunk in ripe.runs.chunks(BATCH) {
            if let Err(error) = self.0.store.accept(chunk).await {
                tracing::warn!(%error, "accepted runs could not be written yet");
                let now = self.0.clock.monotonic();
                chunk.iter().for_each(|(run_id, sent_at)| self.0.outcomes.accepted(*run_id, *sent_at, now));
                written = false;
            }
        }
        written
    }
}
