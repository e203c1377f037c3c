//! Creates the runs of backfills, as many as may be open at a time, of the shards that this node holds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use foldhash::HashSet;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::context::Context;
use crate::lease::held_shards::HeldShards;
use crate::plan::wakes::ScanWakes;
use crate::runtime::{Service, Step};
use carillon_store as store;
use carillon_store::backfill::release::OpenBackfill;

/// How often open backfills are read, if no end of a run of this node wakes the service.
const POLL: Duration = Duration::from_secs(1);

/// Runs that end within this time are followed by one round.
const ENDED_TOGETHER: Duration = Duration::from_millis(20);

/// The open runs of backfills that this node has created. Their ends wake the releaser early.
#[derive(Default)]
pub struct OpenBackfillRuns {
    runs: Mutex<HashSet<i64>>,
    pub wake: Arc<Notify>,
}

impl OpenBackfillRuns {
    pub fn add(&self, run_ids: &[i64]) {
        self.runs.lock().extend(run_ids);
    }

    /// Wakes the service if one of these is a run of a backfill.
    pub fn ended(&self, run_ids: impl Iterator<Item = i64>) {
        let mut runs = self.runs.lock();
        if !runs.is_empty() && run_ids.filter(|id| runs.remove(id)).count() > 0 {
            self.wake.notify_one();
        }
    }
}

pub struct BackfillReleaser {
    pub cx: Arc<Context>,
    pub held: Arc<HeldShards>,
    pub wakes: Arc<ScanWakes>,
    pub backfill_runs: Arc<OpenBackfillRuns>,
}

impl Service for BackfillReleaser {
    const NAME: &'static str = "backfill";
    const LINGER: Duration = ENDED_TOGETHER;
    /// Runs that were created.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.backfill_runs.wake.clone())
    }

    async fn step(&self) -> Step<usize> {
        let mut did = 0;
        if let Err(error) = self.round(&mut did).await {
            tracing::warn!(%error, "backfills could not be released; the next round tries again");
        }
        Step { did, next: POLL }
    }
}

impl BackfillReleaser {
    async fn round(&self, created: &mut usize) -> store::Result<()> {
        let held = self.held.shards();
        let mut ours = self.cx.store.backfills().open_backfills().await?;
        ours.retain(|open| held.contains(&open.shard));
        if ours.is_empty() {
            return Ok(());
        }
        let shards: BTreeSet<i64> = ours.iter().map(|open| i64::from(open.shard)).collect();
        let shards: Vec<i64> = shards.into_iter().collect();
        let running = self.cx.store.backfills().open_runs_of_backfills(&shards).await?;
        // Most are full most of the time: one query for all of them.
        ours.retain(|open| {
            let count = running.get(&open.job_id).copied().unwrap_or(0);
            count < i64::from(open.max_concurrent)
        });
        for open in ours {
            // One whose job another session holds keeps no other waiting.
            match self.release(&open, created).await {
                Err(error) if !error.is_outage() => {
                    tracing::warn!(job.id = open.job_id, %error, "a backfill could not go on; the next round tries again");
                }
                other => other?,
            }
        }
        Ok(())
    }

    async fn release(&self, open: &OpenBackfill, created: &mut usize) -> store::Result<()> {
        loop {
            let released = self.cx.store.backfills().release(open, self.cx.clock.now()).await?;
            if !released.runs.is_empty() {
                *created += released.runs.len();
                self.backfill_runs.add(&released.runs);
                self.wakes.wake(open.shard);
            }
            if released.finished || released.full {
                return Ok(());
            }
        }
    }
}
