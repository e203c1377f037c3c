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
    pub refresher: Arc<ExecutorRefresher>,
    pub clock_guard: Arc<ClockGuard>,
    pub coordinator: Arc<LeaseCoordinator>,
    pub scanners: Arc<ScannerPool>,
    pub dispatcher: Arc<Dispatcher>,
    pub completer: Arc<Completer>,
    pub success_writer: Arc<SuccessWriter>,
    pub unmarker: Arc<Unmarker>,
    pub resolver: Arc<Resolver>,
    pub monitor: Arc<RunMonitor>,
    pub backfill_releaser: Arc<BackfillReleaser>,
    pub calendar_follower: Arc<CalendarFollower>,
    pub gap_auditor: Arc<GapAuditor>,
    pub pruner: Arc<Pruner>,
    pub overdue_flagger: Arc<OverdueFlagger>,
    pub alarm_escalator: Arc<AlarmEscalator>,
}

impl Services {
    /// Starts those that take on work: they end first.
    pub fn run_taking(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
        run(&self.coordinator, tasks, stop, fatal);
        run(&self.resolver, tasks, stop, fatal);
        run(&self.monitor, tasks, stop, fatal);
        run(&self.calendar_follower, tasks, stop, fatal);
        run(&self.backfill_releaser, tasks, stop, fatal);
        run(&self.gap_auditor, tasks, stop, fatal);
        run(&self.pruner, tasks, stop, fatal);
        run(&self.overdue_flagger, tasks, stop, fatal);
        run(&self.alarm_escalator, tasks, stop, fatal);
        tasks.spawn(self.scanners.clone().run(tasks.clone(), stop.clone(), fatal.clone()));
    }

    /// Starts those that finish it.
    pub fn run_sending(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
        run(&self.clock_guard, tasks, stop, fatal);
        run(&self.refresher, tasks, stop, fatal);
        run(&self.dispatcher, tasks, stop, fatal);
        run(&self.completer, tasks, stop, fatal);
        run(&self.success_writer, tasks, stop, fatal);
        run(&self.unmarker, tasks, stop, fatal);
    }
}
