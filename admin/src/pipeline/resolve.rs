//! Runs that were sent without an answer. Looked for by the holder of their shard; those that run are `watch`'s.

mod ask;

pub use ask::has_begun;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::RunEvent;

use super::Pipeline;
use super::settings::ms;
use crate::runtime::Service;
use crate::store;
use crate::store::settle::Finding;

const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 3600);

pub struct Resolve {
    pipeline: Arc<Pipeline>,
    /// Runs that are asked about just now.
    asking: Arc<Mutex<HashSet<i64>>>,
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

    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.pipeline;
        for shard in pipeline.holdings.all().into_keys() {
            let now = pipeline.clock.now();
            for run_id in pipeline
                .store
                .unanswered(shard, now - ms(pipeline.settings.unknown_after), 500)
                .await?
            {
                if let Some(asking) = self.may_ask(run_id) {
                    let pipeline = pipeline.clone();
                    self.pipeline.sends.spawn(async move {
                        ask::ask(pipeline, run_id).await;
                        drop(asking);
                    });
                }
            }
        }
        self.mend_chains().await?;
        self.count_open_runs().await?;
        self.forget_the_gone().await
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

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "open runs could not be looked after; the next round goes on");
        }
        self.pipeline.settings.resolve_every
    }
}
