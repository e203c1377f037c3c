//! Runs that their executors have: lost with their executor, over their time, killed and never ended, or dropped there. Looked for by the
//! holder of their shard.
//!
//! A run is given up only for a reason that is on its row, and never because this node could take no heartbeats: leases count
//! from when heartbeats could be taken again (see `executor/directory`).

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Millis;
use foldhash::{HashMap, HashSet, HashSetExt as _};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::context::Context;
use crate::lease::held_shards::HeldShards;
use crate::manage::run_killer::RunKiller;
use crate::recover::agreed_kills::AgreedKills;
use crate::recover::inquiry::Inquiries;
use crate::recover::lost::{LOST_AFTER, RunHealth, TIMEOUT_GRACE};
use crate::recover::resolver::BATCH_DELAY;
use crate::recover::run_checks::RunChecks;
use crate::recover::run_knowledge::RecoverContext;
use crate::recover::stuck::StuckRuns;
use crate::runtime::Periodic;
use crate::runtime::{Service, Step};
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::open::misplaced::RepairCursor;
use carillon_store::run::open::running::{MonitorQuery, RunningRun};

/// Runs that are asked about at once, and those of one address; the others wait for the next round.
/// An executor that has deregistered finishes its runs for this time before the lease counts as over.
const DEREGISTERED: Duration = Duration::from_secs(30);
const MAX_CONCURRENT: usize = 256;
const MAX_PER_ADDRESS: usize = 16;

pub struct RunMonitor {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) killer: Arc<RunKiller>,
    pub(crate) recover: Arc<RecoverContext>,
    pub(crate) wake: Arc<Notify>,
    pub(crate) tasks: TaskTracker,
    pub(crate) inquiries: Inquiries<MAX_PER_ADDRESS, MAX_CONCURRENT>,
    pub(crate) kill_inquiries: Inquiries<MAX_CONCURRENT, MAX_CONCURRENT>,
    pub(crate) checks: Arc<RunChecks>,
    pub(crate) kills: Arc<AgreedKills>,
    /// Addresses that have deregistered, and since when this node has seen them so.
    pub(crate) deregistered: Mutex<HashMap<String, Millis>>,
    pub(crate) stuck: StuckRuns,
    /// The search for misplaced rows reads all that is open: shards that change hands wake this service, and must not
    /// make it read that again and again.
    pub(crate) search: Periodic,
    /// How far that has come.
    pub(crate) walk: tokio::sync::Mutex<RepairCursor>,
}

impl RunMonitor {
    async fn round(&self) -> store::Result<()> {
        self.refresh_leases().await?;
        let mut away = HashSet::new();
        let every = self.cx.settings.resolve_every;
        let held: HashSet<i32> = self.held.shards().into_iter().collect();
        self.checks.keep_shards(&held);
        for shard in held {
            self.check_shard(shard, &mut away).await?;
            self.checks.look_for_long_running(shard).await?;
            self.retry_kills(shard).await?;
            self.alarm_stuck_runs(shard).await?;
            if shard == 0 && self.search.start_if_due(self.cx.clock.monotonic(), every) {
                self.repair_misplaced().await?;
            }
        }
        self.checks.spawn_due();
        self.deregistered.lock().retain(|address, _| away.contains(address));
        Ok(())
    }

    /// Ends the runs of registered executors whose lease is over for long enough, and does nothing else of a round.
    pub async fn end_lost(&self) -> store::Result<()> {
        self.refresh_leases().await?;
        for shard in self.held.shards() {
            self.for_each_watched(shard, |run, now| {
                let is_gone = || self.recover.health(&run, self.lease_end(&run, now), now) == RunHealth::Gone;
                if run.registered.is_some() && !run.is_http() && is_gone() {
                    self.recover.report_gone(&run);
                }
            })
            .await?;
        }
        Ok(())
    }

    /// After a pause of this process, or of the database, leases count from now. This comes before anything is judged by them.
    async fn refresh_leases(&self) -> store::Result<()> {
        self.recover.directory.refresh().await?;
        self.recover.directory.record_read();
        Ok(())
    }

    async fn check_shard(&self, shard: i32, away: &mut HashSet<String>) -> store::Result<()> {
        let mut awaited = vec![];
        let each = self.for_each_watched(shard, |run, now| {
            if run.is_http() {
                return awaited.push(run);
            }
            if run.registered.is_none() {
                away.extend(run.address.clone());
            }
            self.evaluate(run, now);
        });
        each.await?;
        self.recover.end_unreported(&awaited).await
    }

    async fn for_each_watched(&self, shard: i32, mut look: impl FnMut(RunningRun, Millis)) -> store::Result<()> {
        let now = self.cx.clock.now();
        let (silent_since, over_since) = (now - ms(LOST_AFTER), now - ms(TIMEOUT_GRACE));
        let query = MonitorQuery { shard, silent_since, over_since, held_over_since: now };
        let mut after = Some(0);
        while let Some(from) = after {
            let (found, next) = self.cx.store.runs().watched(query, from).await?;
            found.into_iter().for_each(|run| look(run, now));
            after = next;
        }
        Ok(())
    }

    fn evaluate(&self, run: RunningRun, now: Millis) {
        match self.recover.health(&run, self.lease_end(&run, now), now) {
            RunHealth::Fine => {}
            RunHealth::Gone => self.recover.report_gone(&run),
            health => self.spawn_inquiry(run, health),
        }
    }

    /// An executor of our SDK has registered as a new process: what its address had is looked after at once.
    pub fn executor_restarted(&self, address: String, boot_id: String) {
        let recover = self.recover.clone();
        self.tasks.spawn(async move {
            if let Err(error) = recover.handle_restarts(&address, &boot_id).await {
                tracing::warn!(%error, "runs of a restarted executor are looked after by the next audit");
            }
        });
    }

    /// Until when its executor counts as there.
    fn lease_end(&self, run: &RunningRun, now: Millis) -> Millis {
        let Some(address) = &run.address else {
            return run.sent_at;
        };
        match &run.registered {
            Some(it) => self.recover.directory.lease_end(it.expires_at, it.is_own()),
            None => {
                let mut deregistered = self.deregistered.lock();
                let since = *deregistered.entry(address.clone()).or_insert(now);
                since + ms(DEREGISTERED)
            }
        }
    }

    fn spawn_inquiry(&self, run: RunningRun, health: RunHealth) {
        let (run_id, address, recover) = (run.run_id, run.address.clone(), self.recover.clone());
        let question = async move {
            let done = match health {
                RunHealth::Overdue => recover.handle_overdue(&run).await,
                _ => recover.handle_restart(&run).await,
            };
            if let Err(error) = done {
                tracing::warn!(run.id = run_id, %error, "a run could not be looked after; the next round goes on");
            }
        };
        self.inquiries.spawn(&self.tasks, (run_id, address.as_deref().unwrap_or_default()), question);
    }
}

impl Service for RunMonitor {
    const NAME: &'static str = "monitor";
    const LINGER: Duration = BATCH_DELAY;
    type Report = ();

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.wake.clone())
    }

    async fn step(&self) -> Step {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "running runs could not be looked after; the next round goes on");
        }
        Step::after(self.cx.settings.resolve_every.min(self.cx.settings.check_after))
    }
}
