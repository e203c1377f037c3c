//! Runs that were sent without an answer. Looked for by the holder of their shard; those that run are `watch`'s.
//!
//! A run is asked about when its time is over, counted from its mark, whoever has held its shard meanwhile: a new holder looks
//! at once, and every look says when the next question will be due. With a fixed period a node that is killed again and again
//! would never come to its second look, and nobody would ever be asked.

use crate::recover::evidence;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::RunEvent;
use tokio::sync::Notify;

use crate::Pipeline;
use crate::maintain::periodic::Periodic;
use crate::runtime::Service;
use crate::settings::ms;
use crate::store;
use crate::store::run::open::unanswered::PAGE;
use crate::store::run::settle::outcomes::Finding;

/// Runs of one address that are asked about at once. Of those of an executor that answers nothing the next ones wait for
/// the limit of a request; they must not keep others waiting.
const OF_EACH_ADDRESS: usize = 16;
/// Runs that are asked about at once, of all addresses together: so many tasks, whatever is registered.
const AT_ONCE: usize = 1_024;

/// Shards are seldom taken alone.
pub(crate) const TAKEN_TOGETHER: Duration = Duration::from_millis(200);

const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 3600);

pub struct Resolve {
    pipeline: Arc<Pipeline>,
    asking: Arc<Mutex<Questions>>,
    /// What can wait.
    housekeeping: Periodic,
    /// Of each shard the job behind which the audit of the fixed delays goes on.
    chains: Mutex<HashMap<i32, i64>>,
}

/// Runs that are asked about just now, and how many of each address.
#[derive(Default)]
struct Questions {
    runs: HashSet<i64>,
    by_address: HashMap<String, usize>,
}

/// A run is asked about while this lives.
struct Asking {
    run_id: i64,
    address: String,
    all: Arc<Mutex<Questions>>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.runs.remove(&self.run_id);
        if let Some(count) = all.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                all.by_address.remove(&self.address);
            }
        }
    }
}

impl Resolve {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self { pipeline, asking: Arc::default(), housekeeping: Periodic::at_once(), chains: Mutex::default() }
    }

    /// None: it is asked about already, or too many are.
    fn may_ask(&self, run_id: i64, address: String) -> Option<Asking> {
        let mut all = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let of_address = all.by_address.get(&address).copied().unwrap_or(0);
        let has_room = all.runs.len() < AT_ONCE && of_address < OF_EACH_ADDRESS;
        if !has_room || !all.runs.insert(run_id) {
            return None;
        }
        all.by_address.insert(address.clone(), of_address + 1);
        Some(Asking { run_id, address, all: self.asking.clone() })
    }

    /// Answers when to look again.
    async fn round(&self) -> store::Result<Duration> {
        let settings = &self.pipeline.settings;
        // A node that has just begun, or was away, would take whoever it has not read of for gone.
        self.pipeline.executors.refresh(&self.pipeline.store).await?;
        self.pipeline.heard();
        let mut pause = settings.resolve_every;
        for shard in self.pipeline.holdings.all().into_keys() {
            pause = pause.min(self.ask_about(shard).await?);
        }
        self.mend_chains().await?;
        let now = self.pipeline.clock.monotonic();
        if self.housekeeping.is_due(now, settings.resolve_every) {
            self.count_open_runs().await?;
            self.forget_the_gone().await?;
        }
        Ok(pause)
    }

    /// Asks about the runs of a shard whose time is over; answers when there will be more to ask.
    async fn ask_about(&self, shard: i32) -> store::Result<Duration> {
        let pipeline = &self.pipeline;
        let settings = &pipeline.settings;
        let over = pipeline.clock.now() - ms(settings.unknown_after);
        let store = &pipeline.store;
        let due = store.unanswered(shard, over, OF_EACH_ADDRESS).await?;
        let mut by_address: HashMap<Option<&str>, usize> = HashMap::new();
        for (_, address) in &due {
            *by_address.entry(address.as_deref()).or_default() += 1;
        }
        // An address with fewer than its share has no more than these.
        let is_all = (due.len() as i64) < PAGE && by_address.values().all(|count| *count < OF_EACH_ADDRESS);
        let mut asked = true;
        let given_back = pipeline.given_back.run_ids();
        for (run_id, address) in due {
            // This process knows, or will know, what became of it. After an outage of the database that may not be written yet.
            if given_back.contains(&run_id) || pipeline.in_flight.contains(run_id) || pipeline.outcomes.holds(run_id) {
                continue;
            }
            let Some(asking) = self.may_ask(run_id, address.unwrap_or_default()) else {
                asked = false;
                continue;
            };
            let pipeline = pipeline.clone();
            self.pipeline.sends.spawn(async move {
                evidence::ask(pipeline, run_id).await;
                drop(asking);
            });
        }
        let next = pipeline.store.next_unanswered(shard, over).await?;
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
    async fn mend_chains(&self) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let places = || self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        for shard in pipeline.holdings.all().into_keys() {
            let after = places().get(&shard).copied().unwrap_or(0);
            let (broken, next) = pipeline.store.broken_chains(shard, after).await?;
            places().insert(shard, next);
            for job_id in broken {
                if pipeline.store.mend_chain(job_id, pipeline.clock.now()).await? {
                    tracing::info!(job.id = job_id, "a fixed delay that had stopped goes on");
                    pipeline.job_changed(shard);
                }
            }
        }
        Ok(())
    }

    /// The number is the same for the whole cluster, so the holder of the first shard alone asks for it.
    async fn count_open_runs(&self) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let holds_first = pipeline.holdings.epoch(0, pipeline.clock.monotonic()).is_some();
        let counts = match holds_first {
            true => pipeline.store.open_runs(pipeline.shards()).await?,
            false => vec![],
        };
        // A state without runs has no row.
        pipeline.metrics.open_runs.reset();
        for (state, count) in counts {
            pipeline.metrics.open_runs.with_label_values(&[state.as_str()]).set(count);
        }
        Ok(())
    }

    /// Executors and nodes that have been silent for a day are history. The tables are small.
    async fn forget_the_gone(&self) -> store::Result<()> {
        let before = self.pipeline.clock.now() - ms(FORGOTTEN_AFTER);
        self.pipeline.store.forget_executors(before).await?;
        self.pipeline.store.forget_dead_nodes(before).await
    }
}

pub(crate) fn finding(run_id: i64, event: RunEvent, reason: &'static str, message: &str) -> Finding {
    Finding { run_id, event, code: None, message: Some(message.into()), reason: Some(reason), sent_at: None }
}

#[async_trait]
impl Service for Resolve {
    fn name(&self) -> &'static str {
        "resolve"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.pipeline.resolve_wake.clone())
    }

    fn linger(&self) -> Duration {
        TAKEN_TOGETHER
    }

    async fn step(&self) -> Duration {
        self.round().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "open runs could not be looked after; the next round goes on");
            self.pipeline.settings.scan_every
        })
    }
}
