//! The services of a node, and the order in which they end.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::complete::completer::{Completer, SuccessWriter};
use crate::complete::unmarker::Unmarker;
use crate::dispatch::dispatcher::Dispatcher;
use crate::dispatch::route::refresher::ExecutorRefresher;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::coordinator::LeaseCoordinator;
use crate::maintain::alarm_escalator::AlarmEscalator;
use crate::maintain::calendar_follower::CalendarFollower;
use crate::maintain::gap_auditor::GapAuditor;
use crate::maintain::overdue_flagger::OverdueFlagger;
use crate::maintain::pruner::Pruner;
use crate::plan::backfill_releaser::BackfillReleaser;
use crate::plan::scanner_pool::ScannerPool;
use crate::recover::monitor::RunMonitor;
use crate::recover::resolver::Resolver;
use crate::runtime::run;

/// A test steps them one by one.
#[derive(Clone)]
pub struct Services {
    pub registry: Arc<ExecutorRefresher>,
    pub follow_clock: Arc<ClockGuard>,
    pub shards: Arc<LeaseCoordinator>,
    pub scans: Arc<ScannerPool>,
    pub tick: Arc<Dispatcher>,
    pub complete: Arc<Completer>,
    pub successes: Arc<SuccessWriter>,
    pub give_back: Arc<Unmarker>,
    pub resolve: Arc<Resolver>,
    pub watch: Arc<RunMonitor>,
    pub backfill: Arc<BackfillReleaser>,
    pub follow_calendars: Arc<CalendarFollower>,
    pub gaps: Arc<GapAuditor>,
    pub prune: Arc<Pruner>,
    pub pending: Arc<OverdueFlagger>,
    pub escalate: Arc<AlarmEscalator>,
}

impl Services {
    /// Starts those that take on work: they end first.
    pub fn run_taking(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
        run(&self.shards, tasks, stop, fatal);
        run(&self.resolve, tasks, stop, fatal);
        run(&self.watch, tasks, stop, fatal);
        run(&self.follow_calendars, tasks, stop, fatal);
        run(&self.backfill, tasks, stop, fatal);
        run(&self.gaps, tasks, stop, fatal);
        run(&self.prune, tasks, stop, fatal);
        run(&self.pending, tasks, stop, fatal);
        run(&self.escalate, tasks, stop, fatal);
        tasks.spawn(self.scans.clone().run(tasks.clone(), stop.clone(), fatal.clone()));
    }

    /// Starts those that finish it.
    pub fn run_sending(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
        run(&self.follow_clock, tasks, stop, fatal);
        run(&self.registry, tasks, stop, fatal);
        run(&self.tick, tasks, stop, fatal);
        run(&self.complete, tasks, stop, fatal);
        run(&self.successes, tasks, stop, fatal);
        run(&self.give_back, tasks, stop, fatal);
    }
}
