//! All components of a node, made in the order in which a run passes them.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use carillon_inspect::forecast::Forecaster;
use carillon_scheduler::{Clock, Millis};
use foldhash::{HashMap, HashMapExt as _};
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio_util::task::TaskTracker;

use crate::complete::advancer::Advancer;
use crate::complete::completer::{Completer, SuccessWriter};
use crate::complete::effects::Effects;
use crate::complete::followed_runs::FollowedRuns;
use crate::complete::hide_secrets::hide_in_texts;
use crate::complete::outcome_queue::{OutcomeQueue, ReportNotStored};
use crate::complete::refused_reports::RefusedReports;
use crate::complete::unmarker::Unmarker;
use crate::context::Context;
use crate::dispatch::admit::Admitter;
use crate::dispatch::app_pauses::AppPauses;
use crate::dispatch::departures::Departures;
use crate::dispatch::dispatcher::Dispatcher;
use crate::dispatch::expand::{Expander, MAX_EXPANSIONS};
use crate::dispatch::limits::gate::LimitGate;
use crate::dispatch::limits::rules::LimitRules;
use crate::dispatch::mark::Marker;
use crate::dispatch::mark_lead::MarkLead;
use crate::dispatch::overlap_tracker::OverlapTracker;
use crate::dispatch::probe::Prober;
use crate::dispatch::route::refresher::ExecutorRefresher;
use crate::dispatch::route::router::Router;
use crate::dispatch::send::observed_starts::ObservedStarts;
use crate::dispatch::send_task::Sender;
use crate::dispatch::trace::TraceBuffer;
use crate::executor::address::gate::FreedApps;
use crate::executor::address::pool::AddressPool;
use crate::executor::client::ExecutorClient;
use crate::executor::directory::ExecutorDirectory;
use crate::executor::http::{CallbackUrls, HttpSender};
use crate::executor::scripts::ScriptCache;
use crate::executor::tokens::ExecutorTokens;
use crate::job_cache::JobCache;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::coordinator::LeaseCoordinator;
use crate::lease::degraded::LockHealth;
use crate::lease::held_shards::{HeldShards, ShardListener};
use crate::lease::hints::{HintListener, HintSender};
use crate::lease::lock::ShardLock;
use crate::lease::pending_hints::PendingHints;
use crate::lease::stalled_shards::StalledShards;
use crate::loops::granter::LoopGranter;
use crate::loops::watch::LoopWatch;
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
use crate::manage::limits::costly::CostlyWork;
use crate::manage::limits::log_turns::LogTurns;
use crate::manage::run_killer::RunKiller;
use crate::metrics::Metrics;
use crate::metrics::app_labels::OTHER;
use crate::plan::backfill_releaser::{BackfillReleaser, OpenBackfillRuns};
use crate::plan::due_queue::DueQueue;
use crate::plan::scan_poller::ScanPoller;
use crate::plan::scanner::Scanner;
use crate::plan::scanner_pool::ScannerPool;
use crate::plan::wakes::ScanWakes;
use crate::recover::agreed_kills::AgreedKills;
use crate::recover::evidence::Evidence;
use crate::recover::lease_ends::LeaseEndWatcher;
use crate::recover::monitor::RunMonitor;
use crate::recover::resolver::Resolver;
use crate::recover::run_checks::RunChecks;
use crate::recover::run_knowledge::RecoverContext;
use crate::runtime::Periodic;
use crate::runtime::task_list::TaskList;
use crate::services::Services;
use crate::settings::{Settings, ms};
use carillon_store::run::settle::finding::RunReport;
use carillon_store::{self as store, Store};

/// A run that is on time leaves within a fraction of it.
const OVERDUE_AFTER: Duration = Duration::from_secs(1);

/// A component, with its own share of each value of these names, behind `;` the members that begin with their default, and behind
/// the second `;` those with a value of their own.
macro_rules! component {
    ($component:ident { $($shared:ident),* $(; $($own:ident),* $(; $($given:ident: $value:expr),*)?)? }) => {
        $component { $($shared: $shared.clone(),)* $($($own: Default::default(),)* $($($given: $value,)*)?)? }
    };
}

/// The components that requests of people and programs reach, and the services.
pub struct Engine {
    pub cx: Arc<Context>,
    pub forecaster: Forecaster,
    pub services: Services,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) wakes: Arc<ScanWakes>,
    pub(crate) job_cache: Arc<JobCache>,
    pub(crate) client: Arc<ExecutorClient>,
    pub(crate) http: Arc<HttpSender>,
    pub(crate) directory: Arc<ExecutorDirectory>,
    pub(crate) pauses: Arc<AppPauses>,
    pub(crate) limit_rules: Arc<LimitRules>,
    pub(crate) limits: Arc<LimitGate>,
    pub(crate) killer: Arc<RunKiller>,
    pub(crate) outcomes: Arc<OutcomeQueue>,
    pub(crate) backfill_runs: Arc<OpenBackfillRuns>,
    /// Requests, questions and kills under way.
    tasks: TaskTracker,
    /// Answers with a log that are in memory at the same time, as people and programs read them.
    pub(crate) log_turns: LogTurns,
    /// What one account may do at once.
    pub costly: CostlyWork,
}

/// What an engine is made of.
pub struct EngineParts {
    pub store: Arc<Store>,
    pub clock: Arc<dyn Clock>,
    pub metrics: Arc<Metrics>,
    pub client: ExecutorClient,
    /// Sends the requests of HTTP jobs.
    pub http: HttpSender,
    pub lock: ShardLock,
    pub settings: Settings,
    /// Random for each start.
    pub node: String,
    /// Random, the same for all nodes of this database.
    pub cluster: String,
    pub callbacks: CallbackUrls,
    /// Where this node listens.
    pub address: String,
    /// How many shards the database has.
    pub shards: i32,
}

impl Engine {
    pub fn build(parts: EngineParts) -> Self {
        let EngineParts {
            store,
            clock,
            metrics,
            client,
            http,
            lock,
            settings,
            node,
            cluster,
            callbacks,
            address,
            shards,
        } = parts;
        let (lock, client, http, tasks) = (Arc::new(lock), Arc::new(client), Arc::new(http), TaskTracker::new());
        let queue = Arc::new(DueQueue::new(settings.ring_capacity));
        let hints = Arc::new(PendingHints::default());
        let wakes = Arc::new(ScanWakes::new(clock.clone(), lock.can_hint().then(|| hints.clone())));
        let jobs = Arc::new(JobCache::new(store.clone()));
        let overlaps = Arc::new(OverlapTracker::default());
        let (outcomes, traces) = (Arc::new(OutcomeQueue::default()), Arc::new(TraceBuffer::default()));
        let backfill_runs = Arc::new(OpenBackfillRuns::default());
        let (followed, departures) = (Arc::new(FollowedRuns::default()), Arc::new(Departures::default()));
        let forecaster = Forecaster::new(store.clone(), clock.clone());
        let costly = CostlyWork::new(clock.clone());
        // What waits for the end of a shard's holder is looked at as soon as the shard is taken.
        let (resolver_wake, monitor_wake) = <(Arc<Notify>, Arc<Notify>)>::default();
        let listeners: Vec<Arc<dyn ShardListener>> =
            vec![queue.clone(), overlaps.clone(), wakes.clone(), resolver_wake.clone(), monitor_wake.clone()];
        let held = Arc::new(HeldShards::new(clock.clone(), metrics.clone(), shards, listeners));
        let running = Arc::new(TaskList::new(clock.clone()));
        let cx = Arc::new(Context { store, clock, metrics, settings, node, cluster, callbacks, tasks: running });

        let tokens = &client.tokens;
        let directory = Arc::new(component!(ExecutorDirectory {
            cx, tokens; snapshot, grace, refreshing, read_at, changed
        }));
        let freed = FreedApps::new(queue.wake.clone());
        let addresses = Arc::new(AddressPool::new(cx.clock.clone(), cx.settings.in_flight, freed));
        let clock_guard = Arc::new(ClockGuard::new(cx.clone(), held.clone(), lock.clone(), directory.clone()));
        let locks = Arc::new(component!(LockHealth { lock; asked, away, taken }));
        let stalled = Arc::<StalledShards>::default();
        let coordinator = component!(LeaseCoordinator {
            cx, held, clock_guard, locks, address, stalled; epochs, skew, has_peers, stopping, refused, backoff
        });
        let scanners = Arc::<Mutex<Vec<Arc<Scanner>>>>::default();
        let pauses = Arc::new(component!(AppPauses { cx; state, reading, changed }));
        let scanner_pool =
            component!(ScannerPool { cx, held, clock_guard, queue, jobs, wakes, stalled, pauses, scanners });
        let limit_rules = Arc::new(component!(LimitRules { cx; set, read_at, reading }));
        let limits = Arc::new(component!(LimitGate { cx, held, queue, wakes, jobs, limit_rules; line }));
        let killer = Arc::new(component!(RunKiller { cx, client, directory, queue, followed }));
        let router = Arc::new(component!(Router { cx, directory, addresses; memory, counts, sets }));
        let admitter = Arc::new(component!(Admitter { cx, overlaps, queue, limits, killer, tasks }));
        let prober = Arc::new(component!(Prober { cx, client, router, queue; runs, answered }));
        let starts = Arc::<ObservedStarts>::default();
        let expander = Arc::new(component!(Expander {
            cx, held, queue, wakes, followed, starts, tasks; open; places: Semaphore::new(MAX_EXPANSIONS)
        }));
        let scripts = Arc::new(ScriptCache::new(cx.store.clone()));
        let marker = Arc::new(component!(Marker { cx, jobs, scripts, outcomes }));
        let sender =
            Arc::new(component!(Sender { cx, client, http, addresses, outcomes, traces, departures, starts, tasks }));
        let lead = Arc::new(MarkLead::new(cx.settings.mark_ahead));
        let dispatcher = component!(Dispatcher {
            cx,
            held,
            clock_guard,
            queue,
            wakes,
            jobs,
            pauses,
            admitter,
            limits,
            router,
            prober,
            expander,
            marker,
            sender,
            outcomes,
            traces,
            lead,
            departures
        });
        let effects = Arc::new(component!(Effects { cx, overlaps, queue, wakes, backfill_runs, followed, limits }));
        let refused = Arc::new(component!(RefusedReports { cx }));
        let completer = Arc::new(component!(Completer { cx, outcomes, traces, effects, refused, client }));
        let evidence = Arc::new(component!(Evidence { cx, client, directory, jobs, scripts, outcomes, http }));
        let recover = Arc::new(component!(RecoverContext { cx, client, directory, outcomes, jobs }));
        let checks = Arc::new(component!(RunChecks { recover, tasks; schedule, places, inquiries, alarmed }));
        let kills = Arc::new(component!(AgreedKills { recover; seen }));
        let resolver = component!(Resolver {
            cx, held, wakes, evidence, tasks; inquiries, housekeeping, delays; wake: resolver_wake
        });
        let monitor = Arc::new(component!(RunMonitor {
            cx, held, killer, recover, tasks, checks, kills;
            inquiries, kill_inquiries, deregistered, stuck, search, walk; wake: monitor_wake
        }));
        let services = Services {
            refresher: Arc::new(component!(ExecutorRefresher { cx, held, router, jobs })),
            pause_refresher: Arc::new(component!(PauseRefresher { cx, held, clock_guard, wakes, pauses; in_force })),
            coordinator: Arc::new(coordinator),
            scan_poller: Arc::new(component!(ScanPoller {
                cx, held, clock_guard, wakes;; seen_until: AtomicI64::new(i64::MIN)
            })),
            scanners: Arc::new(scanner_pool),
            hint_listener: Arc::new(component!(HintListener { cx, held, wakes, lock, limits; backoff })),
            hint_sender: Arc::new(component!(HintSender { cx, held, lock, hints })),
            dispatcher: Arc::new(dispatcher),
            success_writer: Arc::new(SuccessWriter(completer.clone())),
            completer,
            advancer: Arc::new(component!(Advancer {
                cx, held, wakes, followed, outcomes, killer, departures, tasks; next_look
            })),
            unmarker: Arc::new(component!(Unmarker { cx, outcomes, queue, limits })),
            resolver: Arc::new(resolver),
            lease_watcher: Arc::new(component!(LeaseEndWatcher { monitor; timers, observed })),
            monitor,
            backfill_releaser: Arc::new(component!(BackfillReleaser { cx, held, wakes, backfill_runs })),
            loop_granter: Arc::new(component!(LoopGranter {
                cx, held, clock_guard, jobs, pauses, router, directory, client;
                passed_over, wake; watch: LoopWatch::new(cx.clone(), pauses.clone(), jobs.clone())
            })),
            calendar_follower: Arc::new(component!(CalendarFollower { cx, held, wakes; followed, everything })),
            zone_follower: Arc::new(component!(ZoneFollower { cx, held, wakes; done })),
            gap_auditor: Arc::new(component!(GapAuditor { cx, held, jobs; passed, walk, reported })),
            pruner: Arc::new(component!(Pruner {
                cx, held, clock_guard; round, aged; orphans: Periodic::after_one()
            })),
            summarizer: Arc::new(component!(RunSummarizer { cx, held; progress })),
            limit_keeper: Arc::new(component!(LimitKeeper {
                cx, held, clock_guard, limit_rules, limits; refreshed, audited
            })),
            overdue_flagger: Arc::new(component!(OverdueFlagger { cx, held, clock_guard, pauses; seen, begins })),
            start_watcher: Arc::new(component!(StartWatcher { cx, held, clock_guard, pauses, starts })),
            alarm_escalator: Arc::new(component!(AlarmEscalator { cx, held, clock_guard })),
            clock_guard,
        };
        Self {
            cx,
            forecaster,
            services,
            held,
            wakes,
            job_cache: jobs,
            client,
            http,
            directory,
            pauses,
            limit_rules,
            limits,
            killer,
            outcomes,
            backfill_runs,
            tasks,
            log_turns: LogTurns::default(),
            costly,
        }
    }

    /// Executors that were live when a node was last alive keep their lease from now on.
    pub async fn begin(&self) -> store::Result<()> {
        self.services.clock_guard.begin().await?;
        if let Some(last_alive_at) = self.cx.store.leases().last_alive_at().await? {
            self.directory.restart_lease_grace(last_alive_at);
        }
        self.pauses.refresh().await?;
        self.limit_rules.refresh().await?;
        self.directory.refresh().await
    }

    /// After an outage executors may still have to register again: one whose lease is over may be well.
    pub fn is_in_lease_grace(&self) -> bool {
        self.directory.is_in_grace()
    }

    /// Results reported by an executor. Answers when they are committed; otherwise the request must not be answered.
    pub async fn report(&self, reports: Vec<RunReport>) -> Result<(), ReportNotStored> {
        self.outcomes.report(reports).await
    }

    /// What the service of a run reports, with `***` in place of the secrets that its job names now.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn masked(&self, run_id: i64, text: &str) -> Result<String, String> {
        let store = &self.cx.store;
        let run = store.runs().get(run_id).await.map_err(|error| error.to_string())?;
        let Some(run) = run else { return Ok(text.to_owned()) };
        let job = store.jobs().with_ids(&[run.job_id]).await.map_err(|error| error.to_string())?.pop();
        match job.as_ref().and_then(|job| Some((job.app_id, job.draft.http.as_ref()?))) {
            Some(request) => self.http.masked(store, request, text).await,
            None => Ok(text.to_owned()),
        }
    }

    /// Puts `***` in place of the secrets that the parameters of a run name, or have named, in texts of its executor.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn hide_secrets(&self, run_id: i64, texts: impl Iterator<Item = &mut String>) -> store::Result<()> {
        hide_in_texts(&self.cx.store, self.client.tokens.keys(), run_id, texts).await
    }

    /// Whether runs of this app still wait for executors that could not register while no node, or no database, took heartbeats.
    pub fn waits_for_executors(&self, app: &str) -> bool {
        !self.directory.live(app).is_empty() || self.cx.clock.now() < self.directory.awaited_until(Millis::MIN)
    }

    /// The tokens of executors, as this node knows them.
    pub fn executor_tokens(&self) -> &ExecutorTokens {
        &self.client.tokens
    }

    /// To be called after a change of a job was committed: its shard is scanned at once, also by another node.
    pub fn job_changed(&self, shard: i32) {
        self.wakes.wake_holder(shard);
    }

    /// To be called after delayed triggers of a shard were recorded or moved: its holder looks at once if one of them is near. Those that
    /// are not are found when they come near.
    pub fn delayed_changed(&self, shard: i32, times: impl IntoIterator<Item = Millis>) {
        let near = self.cx.clock.now() + ms(self.cx.settings.claim_within);
        if times.into_iter().any(|at| at <= near) {
            self.wakes.wake_holder(shard);
        }
    }

    /// How many shards the database has.
    pub fn shards(&self) -> i32 {
        self.held.total()
    }

    /// The shards that this node works, ascending.
    pub fn shards_held(&self) -> Vec<i32> {
        self.held.shards()
    }

    /// This node does what one node does for all, and its clock is not in doubt.
    pub fn holds_first_shard(&self) -> bool {
        self.held.has_first() && !self.services.clock_guard.is_suspect()
    }

    /// Redis is set and cannot be reached.
    pub fn is_degraded(&self) -> bool {
        self.cx.metrics.degraded.get() == 1
    }

    /// Whether the last requests of this node to an executor of an app failed, and no heartbeat has come since it may be tried again.
    pub fn is_unreachable(&self, app: &str, address: &str, seen_at: Millis) -> bool {
        self.services.dispatcher.router.addresses.is_unreachable(app, address, seen_at)
    }

    /// What `/metrics` shows.
    pub fn metrics_text(&self) -> String {
        let bytes = i64::try_from(self.job_cache.bytes()).unwrap_or(i64::MAX);
        self.cx.metrics.job_cache_bytes.set(bytes);
        self.cx.metrics.set_overdue(&self.overdue_by_app());
        self.cx.metrics.render()
    }

    /// A job that is not kept in memory counts for no app by name.
    fn overdue_by_app(&self) -> HashMap<String, i64> {
        let by_job = self.services.dispatcher.queue.due_before(self.cx.clock.now() - ms(OVERDUE_AFTER));
        let apps = self.job_cache.apps(by_job.keys().copied());
        let mut by_app = HashMap::new();
        for (job_id, count) in by_job {
            let app = apps.get(&job_id).map_or(OTHER, String::as_str);
            *by_app.entry(app.to_owned()).or_default() += count;
        }
        by_app
    }

    /// Nothing is under way and nothing waits to be written.
    pub fn is_idle(&self) -> bool {
        self.is_idle_but_accepted() && self.outcomes.is_empty()
    }

    /// As [`Engine::is_idle`], but runs that were accepted a moment ago may still wait to be written.
    pub fn is_idle_but_accepted(&self) -> bool {
        !self.is_probing()
            && self.tasks.is_empty()
            && self.outcomes.is_empty_but_accepted()
            && self.services.completer.traces.is_empty()
    }

    /// Executors are being asked before a run is routed, or the dispatcher has not taken up their answers yet.
    pub fn is_probing(&self) -> bool {
        !self.services.dispatcher.prober.is_empty()
    }

    /// Broadcasts get their parts just now, beside the dispatcher.
    pub fn is_expanding(&self) -> bool {
        !self.services.dispatcher.expander.is_empty()
    }

    /// Nothing more is marked: what waits in memory waits in its rows for the next holder.
    pub fn close(&self) {
        self.held.close();
    }

    /// No new requests; waits for those under way. Those of HTTP jobs end without an answer if theirs takes longer than an executor's may.
    pub async fn finish_sends(&self) {
        self.tasks.close();
        if tokio::time::timeout(self.cx.settings.send_limit, self.tasks.wait()).await.is_err() {
            self.services.dispatcher.sender.http.end();
        }
        self.tasks.wait().await;
    }

    /// The node ends: reports are refused at once from now on, as no service would write them.
    pub fn close_reports(&self) {
        self.outcomes.close();
    }
}
