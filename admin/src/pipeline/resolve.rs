//! Runs that nobody has settled: sent without an answer, or killed without an end. Looked for by the holder of their shard.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::RunEvent;

use super::Pipeline;
use super::settings::ms;
use crate::runtime::Service;
use crate::store;
use crate::store::settle::Finding;

const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 3600);

pub struct Resolve(pub Arc<Pipeline>);

impl Resolve {
    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.0;
        for shard in pipeline.holdings.all().into_keys() {
            let now = pipeline.clock.now();
            for run_id in pipeline
                .store
                .unanswered(shard, now - ms(pipeline.settings.unknown_after), 500)
                .await?
            {
                // Said once, here: the run may have arrived, so it is not sent again unless the job allows retries.
                pipeline.outcomes.found(finding(
                    run_id,
                    RunEvent::Unresolved,
                    "unknown",
                    "sent, and no answer came",
                ));
            }
            for run_id in pipeline
                .store
                .unconfirmed_kills(shard, now - ms(pipeline.settings.kill_confirm))
                .await?
            {
                pipeline.outcomes.found(finding(
                    run_id,
                    RunEvent::KillUnconfirmed,
                    "unconfirmed",
                    "killed; its end was not reported",
                ));
            }
        }
        self.mend_chains().await?;
        self.count_open_runs().await?;
        self.forget_the_gone().await
    }

    /// Fixed delays whose last run ended without a next instant: a node died between the two.
    async fn mend_chains(&self) -> store::Result<()> {
        let pipeline = &self.0;
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
        let pipeline = &self.0;
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
        let before = self.0.clock.now() - ms(FORGOTTEN_AFTER);
        self.0.store.forget_executors(before).await?;
        self.0.store.forget_dead_nodes(before).await
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
        self.0.settings.resolve_every
    }
}
