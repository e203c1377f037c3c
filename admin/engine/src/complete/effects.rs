//! What follows from results that are committed: metrics, log, alarms, and the wake-ups of all that waited for them.

use std::sync::Arc;

use carillon_scheduler::{RunReason, RunState};
use foldhash::HashMap;

use crate::complete::followed_runs::FollowedRuns;
use crate::context::{Context, MAX_LOGGED_BYTES};
use crate::dispatch::limits::gate::LimitGate;
use crate::dispatch::overlap_tracker::OverlapTracker;
use crate::plan::backfill_releaser::OpenBackfillRuns;
use crate::plan::due_queue::DueQueue;
use crate::plan::wakes::ScanWakes;
use carillon_store::db::sql::text::cut;
use carillon_store::run::settle::finding::{RunReport, Settlement};

pub struct Effects {
    pub cx: Arc<Context>,
    pub overlaps: Arc<OverlapTracker>,
    pub queue: Arc<DueQueue>,
    pub wakes: Arc<ScanWakes>,
    pub backfill_runs: Arc<OpenBackfillRuns>,
    pub followed: Arc<FollowedRuns>,
    pub limits: Arc<LimitGate>,
}

impl Effects {
    pub fn apply(&self, reports: &[RunReport], settled: &Settlement) {
        self.count(reports, settled);
        for alarm in &settled.alarms {
            self.cx.log_alarm(alarm);
        }
        self.followed.add(&settled.followed);
        let now = self.cx.clock.now();
        let ended = settled.changed.iter().map(|(run_id, _)| *run_id);
        self.backfill_runs.ended(ended.clone());
        for run in self.overlaps.ended(ended) {
            self.queue.insert_now(run, now);
        }
        if !settled.freed.is_empty() {
            self.limits.freed();
        }
        for shard in &settled.to_scan {
            self.wakes.wake_holder(*shard);
        }
    }

    fn count(&self, reports: &[RunReport], settled: &Settlement) {
        let by_run: HashMap<i64, &RunReport> = reports.iter().map(|it| (it.run_id, it)).collect();
        for (run_id, state) in &settled.changed {
            self.cx.metrics.settled.with_label_values(&[state.as_str()]).inc();
            if matches!(state, RunState::Failed | RunState::Unknown | RunState::Lost) {
                let report = by_run.get(run_id);
                let said = report.and_then(|f| f.message.as_deref().or(f.reason.map(RunReason::as_str))).unwrap_or("");
                // Executors write this: as a quoted field it cannot pass for a line of the log.
                tracing::info!(run.id = run_id, run.state = %state, result.text = ?cut(said, MAX_LOGGED_BYTES), "a run failed");
            }
        }
    }
}
