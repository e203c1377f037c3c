#![doc = include_str!("../README.md")]

mod alarm;
pub mod complete;
pub mod dispatch;
pub mod executor;
pub mod lease;
pub mod maintain;
pub mod manage;
pub mod metrics;
pub mod plan;
pub mod recover;
pub mod runtime;
mod settings;

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use carillon_inspect::forecast::Forecaster;
use carillon_scheduler::{Clock, Ring, Sample};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use carillon_store as store;
use carillon_store::failpoint;

use complete::{outcome_queue, unmarker};
use dispatch::route::{candidate_set, memory, open_counts};
use dispatch::{broadcast, in_flight, overlap_tracker, probe, trace};
use executor::client::ExecutorClient;
use executor::{address_gate, directory};
use lease::held_shards;
use lease::lock::Leases;

use metrics::Metrics;
use plan::{backfill_releaser, job_cache, reread};
use store::Store;
use store::lease::reshard::MAX_SHARDS;
use store::run::adopt::Waiting;
use store::run::settle::outcomes::Finding;

pub use complete::completer::{Complete, Successes};
pub use complete::outcome_queue::NotStored;
pub use complete::unmarker::GiveBack;
pub use dispatch::tick::Tick;
pub use executor::directory::Registry;
pub use lease::clock_guard::FollowClock;
pub use lease::coordinator::Shards;
pub use maintain::calendar_follower::FollowCalendars;
pub use maintain::gap_auditor::Gaps;
pub use maintain::overdue_flagger::{Escalate, Pending};
pub use maintain::pruner::Prune;
pub use manage::Error;
pub use plan::backfill_releaser::BackfillReleaser;

pub use plan::scanner::Scan;
pub use plan::scanner_pool::Scans;
pub use recover::monitor::Watch;
pub use recover::resolver::Resolve;
pub use settings::{LostRule, Options, Settings};

pub use Pipeline as Engine;

/// The door for all that changes a run, and what its services share.
pub struct Pipeline {
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Arc<Metrics>,
    client: ExecutorClient,
    leases: Box<dyn Leases>,
    pub settings: Settings,
    /// Random for each start.
    pub node: String,
    address: OnceLock<String>,
    /// As the database had it a moment ago: it can be changed while nodes run.
    shards: AtomicI32,
    holdings: held_shards::Holdings,
    ring: Mutex<Ring<Waiting>>,
    jobs: job_cache::Jobs,
    pub forecaster: Forecaster,
    executors: directory::Executors,
    addresses: address_gate::Addresses,
    outcomes: outcome_queue::Queue,
    given_back: unmarker::GivenBack,
    in_flight: in_flight::InFlight,
    overlaps: overlap_tracker::Overlaps,
    reread: reread::Reread,
    backfill_runs: backfill_releaser::OpenBackfillRuns,
    /// Requests under way or waiting for their second.
    sends: TaskTracker,
    expansions: broadcast::Expansions,
    histories: memory::Histories,
    sets: candidate_set::CandidateSets,
    active: open_counts::Active,
    probes: probe::Probes,
    stories: trace::Stories,
    tick_wake: Arc<Notify>,
    scan_wakes: Vec<Arc<Notify>>,
    /// The shards are to be looked after now.
    shards_wake: Arc<Notify>,
    /// A shard was taken: what its holder before left is looked at.
    resolve_wake: Arc<Notify>,
    watch_wake: Arc<Notify>,
    /// Another live node is there to take over.
    peers: AtomicBool,
    /// The clock that counts has jumped and that is not confirmed yet: nothing is claimed or marked.
    clock_in_doubt: AtomicBool,
    /// That has lasted for the time of a lease: this node works nothing.
    clock_is_lost: AtomicBool,
    /// The full ring was told of.
    ring_is_full: AtomicBool,
}

/// What a pipeline is made of.
pub struct Parts {
    pub store: Arc<Store>,
    pub clock: Arc<dyn Clock>,
    pub metrics: Arc<Metrics>,
    pub client: ExecutorClient,
    pub leases: Box<dyn Leases>,
    pub settings: Settings,
    pub node: String,
    pub shards: i32,
}

impl Pipeline {
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            forecaster: Forecaster::new(parts.store.clone(), parts.clock.clone()),
            addresses: address_gate::Addresses::new(&parts.settings),
            ring: Mutex::new(Ring::new(parts.settings.ring_capacity)),
            store: parts.store,
            clock: parts.clock,
            metrics: parts.metrics,
            client: parts.client,
            leases: parts.leases,
            settings: parts.settings,
            node: parts.node,
            address: OnceLock::new(),
            shards: AtomicI32::new(parts.shards),
            holdings: held_shards::Holdings::default(),
            jobs: job_cache::Jobs::default(),
            executors: directory::Executors::default(),
            outcomes: outcome_queue::Queue::default(),
            given_back: unmarker::GivenBack::default(),
            in_flight: in_flight::InFlight::default(),
            overlaps: overlap_tracker::Overlaps::default(),
            reread: reread::Reread::default(),
            backfill_runs: backfill_releaser::OpenBackfillRuns::default(),
            sends: TaskTracker::new(),
            expansions: broadcast::Expansions::default(),
            histories: memory::Histories::default(),
            sets: candidate_set::CandidateSets::default(),
            active: open_counts::Active::default(),
            probes: probe::Probes::default(),
            stories: trace::Stories::default(),
            tick_wake: Arc::default(),
            scan_wakes: (0..MAX_SHARDS).map(|_| Arc::default()).collect(),
            shards_wake: Arc::default(),
            resolve_wake: Arc::default(),
            watch_wake: Arc::default(),
            peers: AtomicBool::new(false),
            clock_in_doubt: AtomicBool::new(false),
            clock_is_lost: AtomicBool::new(false),
            ring_is_full: AtomicBool::new(false),
        })
    }

    /// How many shards the database has.
    pub fn shards(&self) -> i32 {
        self.shards.load(Ordering::Relaxed)
    }

    /// The count that was just read. What is held was taken under the old one, and is refused by its epoch.
    fn follow_shards(&self, count: i32) {
        let before = self.shards.swap(count, Ordering::Relaxed);
        if before != count {
            tracing::info!(shard.count_before = before, shard.count = count, "the number of shards has changed");
        }
    }

    /// To be called after an edit was committed: the shard's scan looks at once.
    pub fn job_changed(&self, shard: i32) {
        if let Some(wake) = self.scan_wakes.get(shard as usize) {
            wake.notify_one();
        }
    }

    /// To be called after a registration changed: routes see it at once.
    pub fn executors_changed(&self) {
        self.executors.changed.notify_one();
    }

    /// Results reported by an executor. Answers when they are committed; otherwise the request must not be answered.
    pub async fn report(&self, findings: Vec<Finding>) -> Result<(), NotStored> {
        self.outcomes.report(findings).await
    }

    /// The node ends: reports are refused at once from now on, as nobody would write them.
    pub fn close_reports(&self) {
        self.outcomes.close();
    }

    /// What this node is reached at, once it listens.
    pub fn set_address(&self, address: String) {
        // A second address of one start changes nothing.
        self.address.set(address).unwrap_or(());
    }

    fn address(&self) -> String {
        self.address.get().cloned().unwrap_or_else(|| "-".into())
    }

    /// Executors that were live when a node was last alive keep their lease from now on.
    pub async fn begin(&self) -> crate::store::Result<()> {
        // Before anything is decided by it: this host's own clock may be hours away.
        let before = self.clock.monotonic();
        if let Some(said) = self.counting_clock().await? {
            self.clock.observe(Sample { db_now: said, before, after: self.clock.monotonic(), confirmed: false });
        }
        let now = self.clock.now();
        if let Some(last_alive_at) = self.store.last_alive_at().await? {
            self.executors.begin_grace(last_alive_at, now, self.settings.own_lease, self.settings.stock_lease);
        }
        self.executors.refresh(&self.store).await
    }

    fn ring(&self) -> MutexGuard<'_, Ring<Waiting>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Redis is set and cannot be reached.
    pub fn is_degraded(&self) -> bool {
        self.metrics.degraded.get() == 1
    }

    /// Nothing is under way and nothing waits to be written.
    pub fn is_idle(&self) -> bool {
        self.is_idle_but_accepted() && self.outcomes.is_empty()
    }

    fn clock_is_in_doubt(&self) -> bool {
        self.clock_in_doubt.load(Ordering::Relaxed)
    }

    /// As [`Pipeline::is_idle`], but runs that were accepted a moment ago may still wait to be written.
    pub fn is_idle_but_accepted(&self) -> bool {
        self.probes.is_empty()
            && self.sends.is_empty()
            && self.outcomes.is_empty_but_accepted()
            && self.given_back.is_empty()
            && self.stories.is_empty()
    }

    /// Broadcasts get their parts just now, beside the tick.
    pub fn is_expanding(&self) -> bool {
        !self.expansions.is_empty()
    }

    /// What `/metrics` shows.
    pub fn metrics_text(&self) -> String {
        let bytes = i64::try_from(self.jobs.bytes()).unwrap_or(i64::MAX);
        self.metrics.job_cache_bytes.set(bytes);
        self.metrics.render()
    }

    /// The shards that this node works, ascending.
    pub fn shards_held(&self) -> Vec<i32> {
        self.holdings.all().into_keys().collect()
    }

    /// Is another live node there to take over?
    pub fn has_peers(&self) -> bool {
        self.peers.load(Ordering::Relaxed)
    }

    /// No new requests; waits for those under way.
    pub async fn finish_sends(&self) {
        self.sends.close();
        self.sends.wait().await;
    }
}
