//! The services of a node, and the order in which they end.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::complete::advancer::Advancer;
use crate::complete::completer::{Completer, SuccessWriter};
use crate::complete::unmarker::Unmarker;
use crate::dispatch::dispatcher::Dispatcher;
use crate::dispatch::route::refresher::ExecutorRefresher;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::coordinator::LeaseCoordinator;
use crate::lease::hints::{HintListener, HintSender};
use crate::loops::granter::LoopGranter;
use crate::maintain::alarm_escalator::AlarmEscalator;
use crate::maintain::calendar_follower::CalendarFollower;
use crate::maintain::gap_auditor::GapAuditor;
use crate::maintain::limit_keeper::LimitKeeper;
use crate::maintain::overdue_flagger::OverdueFlagger;
use crate::maintain::pause_refresher::PauseRefresher;
use crate::maintain::pruner::Pruner;
use crate::maintain::run_summarizer::RunSummarizer;
use crate::maintain::start_watcher::StartWatcher;
use crate::maintain::zone_follower::ZoneFollower;
use crate::plan::backfill_releaser::BackfillReleaser;
use crate::plan::scan_poller::ScanPoller;
use crate::plan::scanner_pool::ScannerPool;
use crate::recover::lease_ends::LeaseEndWatcher;
use crate::recover::monitor::RunMonitor;
use crate::recover::resolver::Resolver;
use crate::runtime::run;

/// All services with their periods, each once. A group is started together and ends together. A service that can be woken works
/// earlier than its period says.
macro_rules! services {
    ($( $(#[$ends:meta])* $run:ident { $( $(#[$period:meta])* $name:ident: $service:ty, )+ } )+) => {
        /// A test steps them one by one.
        #[derive(Clone)]
        pub struct Services {
            /// One for each shard that is held: when `scan_poller` wakes it, and every 10 s.
            pub scanners: Arc<ScannerPool>,
            /// Wakes scanners when another node says so.
            pub hint_listener: Arc<HintListener>,
            $($( $(#[$period])* pub $name: Arc<$service>, )+)+
        }

        impl Services {
            $(
                $(#[$ends])*
                pub fn $run(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
                    let list = &self.scanners.cx.tasks;
                    $( run(&self.$name, list, tasks, stop, fatal); )+
                }
            )+
        }
    };
}

impl Services {
    /// Starts the scans, which take on work too.
    pub fn run_scanners(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
        tasks.spawn(self.hint_listener.clone().run(stop.clone()));
        tasks.spawn(self.scanners.clone().run(tasks.clone(), stop.clone(), fatal.clone()));
    }
}

services! {
    /// Starts those that take on work, beside the scanners: they end first.
    run_taking {
        /// Every second.
        coordinator: LeaseCoordinator,
        /// Every second.
        scan_poller: ScanPoller,
        /// When the next run without an answer is to be asked about, at least every 10 s.
        resolver: Resolver,
        /// Every 10 s.
        monitor: RunMonitor,
        /// When runs of a silent executor are lost, and every second.
        lease_watcher: LeaseEndWatcher,
        /// When a lease of a loop is over, and every second.
        loop_granter: LoopGranter,
        /// Every 30 s.
        calendar_follower: CalendarFollower,
        /// Every 30 s.
        zone_follower: ZoneFollower,
        /// Every second.
        backfill_releaser: BackfillReleaser,
        /// Every minute.
        gap_auditor: GapAuditor,
        /// Every 10 minutes; while there is something to delete, every 0.2 to 1 s.
        pruner: Pruner,
        /// Every 15 s; while there is more to count, every 0.2 s.
        summarizer: RunSummarizer,
        /// Every second.
        overdue_flagger: OverdueFlagger,
        /// Every 5 s.
        start_watcher: StartWatcher,
        /// Every 10 s.
        alarm_escalator: AlarmEscalator,
    }
    /// Starts those that finish it.
    run_sending {
        /// Every 3 s, every second while the time is in doubt.
        clock_guard: ClockGuard,
        /// Every second.
        refresher: ExecutorRefresher,
        /// Every second.
        pause_refresher: PauseRefresher,
        /// Every 0.5 s.
        limit_keeper: LimitKeeper,
        /// Each second of the ring, at most 100 ms apart while something waits.
        dispatcher: Dispatcher,
        /// When there is something to write.
        completer: Completer,
        /// When there is something to write.
        success_writer: SuccessWriter,
        /// When a run with followers has ended, at least every second.
        advancer: Advancer,
        /// When work has come to shards of other nodes.
        hint_sender: HintSender,
        /// When there is something to give back, at least every second.
        unmarker: Unmarker,
    }
}
