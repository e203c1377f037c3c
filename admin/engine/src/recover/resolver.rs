//! Runs that were sent without an answer. Looked for by the holder of their shard; those that run are the monitor's.
//!
//! A run is asked about when its time is over, counted from its mark, whichever node has held its shard meanwhile: a new holder looks
//! at once, and every look says when the next question will be due. With a fixed period a node that is killed again and again
//! would never come to its second look, and no executor would ever be asked.

use std::sync::Arc;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt as _};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::context::Context;
use crate::lease::held_shards::HeldShards;
use crate::plan::wakes::ScanWakes;
use crate::recover::evidence::Evidence;
use crate::recover::inquiry::Inquiries;
use crate::runtime::Periodic;
use crate::runtime::{Service, Step};
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::open::unanswered::PAGE;

/// Runs of one address that are asked about at once. Of those of an executor that answers nothing the next ones wait for
/// the limit of a request; they must not keep others waiting.
const MAX_PER_ADDRESS: usize = 16;
/// Runs that are asked about at once, of all addresses together: the number of tasks does not grow with the registrations.
const MAX_CONCURRENT: usize = 1_024;

/// Shards are seldom taken alone.
pub(crate) const BATCH_DELAY: Duration = Duration::from_millis(200);

/// How long silent nodes, and executors whose lease is over, are shown.
const DEAD_NODES: Duration = Duration::from_secs(24 * 3600);
const SILENT_EXECUTORS: Duration = Duration::from_secs(600);

pub struct Resolver {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) wakes: Arc<ScanWakes>,
    pub(crate) evidence: Arc<Evidence>,
    pub(crate) wake: Arc<Notify>,
    pub(crate) tasks: TaskTracker,
    pub(crate) inquiries: Inquiries<MAX_PER_ADDRESS, MAX_CONCURRENT>,
    /// What can wait.
    pub(crate) housekeeping: Periodic,
    /// Of each shard the job behind which the audit of the fixed delays goes on.
    pub(crate) delays: Mutex<HashMap<i32, i64>>,
}

impl Resolver {
    /// Answers when to look again.
    async fn round(&self, asked: &mut usize) -> store::Result<Duration> {
        let settings = &self.cx.settings;
        // A node that has just begun, or was away, would take executors that it has not read of for gone.
        self.evidence.directory.refresh().await?;
        self.evidence.directory.record_read();
        let mut pause = settings.resolve_every;
        for shard in self.held.shards() {
            pause = pause.min(self.ask_about(shard, asked).await?);
        }
        self.restart_fixed_delays().await?;
        let now = self.cx.clock.monotonic();
        if self.housekeeping.start_if_due(now, settings.resolve_every) {
            self.count_open_runs().await?;
            self.delete_silent().await?;
        }
        Ok(pause)
    }

    /// Asks about the runs of a shard whose time is over; answers when there will be more to ask.
    async fn ask_about(&self, shard: i32, count: &mut usize) -> store::Result<Duration> {
        let (settings, store) = (&self.cx.settings, &self.cx.store);
        let over = self.cx.clock.now() - ms(settings.unknown_after);
        let due = store.runs().unanswered(shard, over, MAX_PER_ADDRESS).await?;
        let mut by_address: HashMap<Option<&str>, usize> = HashMap::new();
        for (_, address) in &due {
            *by_address.entry(address.as_deref()).or_default() += 1;
        }
        // An address with fewer than its share has no more than these.
        let is_all = (due.len() as i64) < PAGE && by_address.values().all(|count| *count < MAX_PER_ADDRESS);
        let mut asked = true;
        for (run_id, address) in due {
            if self.evidence.outcomes.knows(run_id) {
                continue;
            }
            let (evidence, address) = (self.evidence.clone(), address.as_deref().unwrap_or_default());
            let question = async move { evidence.resolve(run_id).await };
            match self.inquiries.spawn(&self.tasks, (run_id, address), question) {
                true => *count += 1,
                false => asked = false,
            }
        }
        let next = store.runs().next_unanswered(shard, over).await?;
        let until = next.map_or(settings.resolve_every, |marked_at| {
            // The time is over when more than its length has passed.
            Duration::from_millis((marked_at - over + 1).unsigned_abs())
        });
        Ok(match asked && is_all {
            true => until.clamp(settings.scan_every, settings.resolve_every),
            false => settings.scan_every,
        })
    }

    /// Fixed delays whose last run ended without a next instant: a node died between the two.
    async fn restart_fixed_delays(&self) -> store::Result<()> {
        for shard in self.held.shards() {
            let after = self.delays.lock().get(&shard).copied().unwrap_or(0);
            let (stalled, next) = self.cx.store.runs().stalled_fixed_delays(shard, after).await?;
            self.delays.lock().insert(shard, next);
            for job_id in stalled {
                if self.cx.store.runs().restart_fixed_delay(job_id, self.cx.clock.now()).await? {
                    tracing::info!(job.id = job_id, "a fixed delay that had stopped goes on");
                    self.wakes.wake(shard);
                }
            }
        }
        Ok(())
    }

    /// The number is the same for the whole cluster, so the holder of the first shard alone asks for it.
    async fn count_open_runs(&self) -> store::Result<()> {
        let (counts, workflows) = match self.held.has_first() {
            true => {
                let total = self.held.total();
                (self.cx.store.runs().open_runs(total).await?, self.cx.store.workflows().count_open(total).await?)
            }
            false => (vec![], 0),
        };
        self.cx.metrics.workflows_open.set(workflows);
        // A state without runs has no row.
        self.cx.metrics.open_runs.reset();
        for (state, count) in counts {
            self.cx.metrics.open_runs.with_label_values(&[state.as_str()]).set(count);
        }
        Ok(())
    }

    /// Executors and nodes that have been silent for long. All executors are read every second, so what is over must go.
    async fn delete_silent(&self) -> store::Result<()> {
        let now = self.cx.clock.now();
        // After a time in which none could register, they count by their old rows.
        if !self.evidence.directory.is_in_grace() {
            self.cx.store.apps().forget_executors(now - ms(SILENT_EXECUTORS)).await?;
        }
        self.cx.store.leases().forget_dead_nodes(now - ms(DEAD_NODES)).await
    }
}

impl Service for Resolver {
    const NAME: &'static str = "resolve";
    const LINGER: Duration = BATCH_DELAY;
    /// Runs that are asked about from now on.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.wake.clone())
    }

    async fn step(&self) -> Step<usize> {
        let mut did = 0;
        let next = self.round(&mut did).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "open runs could not be looked after; the next round goes on");
            self.cx.settings.scan_every
        });
        Step { did, next }
    }
}
