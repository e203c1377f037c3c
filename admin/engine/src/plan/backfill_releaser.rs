//! Creates the runs of backfills, as many as may be open at a time, of the shards that this node holds.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use crate::Pipeline;
use crate::runtime::Service;
use crate::store;
use crate::store::backfill::release::Open;

/// How often open backfills are read, if no end of a run of this node wakes the service.
const POLL: Duration = Duration::from_secs(1);

/// Runs that end within this time are followed by one round.
const ENDED_TOGETHER: Duration = Duration::from_millis(20);

/// The open runs of backfills that this node has created: their ends wake the service early.
#[derive(Default)]
pub struct OpenBackfillRuns {
    runs: Mutex<HashSet<i64>>,
    pub wake: Arc<Notify>,
}

impl OpenBackfillRuns {
    fn add(&self, run_ids: &[i64]) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.extend(run_ids);
    }

    /// Wakes the service if one of these is a run of a backfill.
    pub fn ended(&self, run_ids: impl Iterator<Item = i64>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.is_empty() {
            return;
        }
        if run_ids.filter(|id| runs.remove(id)).count() > 0 {
            self.wake.notify_one();
        }
    }
}

/// The service.
pub struct BackfillReleaser(pub Arc<Pipeline>);

#[async_trait]
impl Service for BackfillReleaser {
    fn name(&self) -> &'static str {
        "backfill"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.0.backfill_runs.wake.clone())
    }

    fn linger(&self) -> Duration {
        ENDED_TOGETHER
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "backfills could not be released; the next round tries again");
        }
        POLL
    }
}

impl BackfillReleaser {
    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.0;
        let held = pipeline.shards_held();
        let mut ours = pipeline.store.open_backfills().await?;
        ours.retain(|open| held.contains(&open.shard));
        if ours.is_empty() {
            return Ok(());
        }
        let shards: BTreeSet<i64> = ours.iter().map(|open| i64::from(open.shard)).collect();
        let shards: Vec<i64> = shards.into_iter().collect();
        let running = pipeline.store.open_runs_of_backfills(&shards).await?;
        // Most are full most of the time: one query for all of them.
        ours.retain(|open| {
            let count = running.get(&open.job_id).copied().unwrap_or(0);
            count < i64::from(open.max_concurrent)
        });
        for open in ours {
            release(pipeline, &open).await?;
        }
        Ok(())
    }
}

async fn release(pipeline: &Pipeline, open: &Open) -> store::Result<()> {
    loop {
        let released = pipeline.store.release_backfill(open, pipeline.clock.now()).await?;
        if !released.runs.is_empty() {
            pipeline.backfill_runs.add(&released.runs);
            pipeline.job_changed(open.shard);
        }
        if released.finished || released.full {
            return Ok(());
        }
    }
}
