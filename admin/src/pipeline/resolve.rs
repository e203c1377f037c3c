//! Runs that were sent without an answer. Looked for by the holder of their shard; those that run are `watch`'s.
//!
//! A run is asked about when its time is over, counted from its mark, whoever has held its shard meanwhile: a new holder looks
//! at once, and every look says when the next question will be due. With a fixed period a node that is killed again and again
//! would never come to its second look, and nobody would ever be asked.

mod ask;

pub use ask::has_begun;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::RunEvent;
use tokio::sync::Notify;

use super::Pipeline;
use super::periodic::Periodic;
use super::settings::ms;
use crate::runtime::Service;
use crate::store;
use crate::store::settle::Finding;

/// Questions of one look at a shard.
const AT_MOST: i64 = 500;

/// Shards are seldom taken alone.
pub(super) const TAKEN_TOGETHER: Duration = Duration::from_millis(200);

const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 3600);

pub struct Resolve {
    pipeline: Arc<Pipeline>,
    /// Runs that are asked about just now.
    asking: Arc<Mutex<HashSet<i64>>>,
    /// What can wait.
    housekeeping: Periodic,
}

/// A run is asked about while this lives.
struct Asking {
    run_id: i64,
    all: Arc<Mutex<HashSet<i64>>>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.run_id);
    }
}

impl Resolve {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self {
            pipeline,
            asking: Arc::default(),
            housekeeping: Periodic::at_once(),
        }
    }

    /// None: it is asked about already, or too many are.
    fn may_ask(&self, run_id: i64) -> Option<Asking> {
        let mut all = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let may = all.len() < ask::AT_ONCE && all.insert(run_id);
        may.then(|| Asking {
            run_id,
            all: self.asking.clone(),
        })
    }

    /// Answers when to look again.
    async fn round(&self) -> store::Result<Duration> {
        let settings = &self.pipeline.settings;
        // A node that has just begun, or was away, would take whoever it has not read of for gone.
        self.pipeline
            .executors
            .refresh(&self.pipeline.store)
            .await?;
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
        let due = pipeline.store.unanswered(shard, over, AT_MOST).await?;
        let is_all = (due.len() as i64) < AT_MOST;
        let mut asked = true;
        for run_id in due {
            let Some(asking) = self.may_ask(run_id) else {
                asked = false;
                continue;
            };
            let pipeline = pipeline.clone();
            self.pipeline.sends.spawn(async move {
                ask::ask(pipeline, run_id).await;
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
        for shard in pipeline.holdings.all().into_keys() {
            for job_id in pipeline.store.broken_chains(shard).await? {
                if pipeline
                    .store
                    .mend_chain(job_id, pipeline.clock.now())
                    .await?
                {
                    tracing::info!(job.id = job_id, "a fixed delay that had stopped goes on");
                    pipeline.job_changed(shard);
                }
            }
        }
        Ok(())
    }

    async fn count_open_runs(&self) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let counts = pipeline.store.open_runs().await?;
        // A state that nobody is in any more has no row.
        pipeline.metrics.open_runs.reset();
        for (state, count) in counts {
            pipeline
                .metrics
                .open_runs
                .with_label_values(&[state.as_str()])
                .set(count);
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

fn finding(run_id: i64, event: RunEvent, reason: &'static str, message: &str) -> Finding {
    Finding {
        run_id,
        event,
        code: None,
        message: Some(message.into()),
        reason: Some(reason),
        sent_at: None,
    }
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
