//! What has been kept long enough is deleted: round after round over all runs, in the order of their ids, by the holder of the
//! first shard. A round reads pages and deletes a hundred runs at a time, so nobody waits for it.
//!
//! What a round cannot know in advance it learns for the next one: which failures are a job's last, and how many runs a
//! job has. The first round after a start therefore deletes by age alone, and no failures where some are to stay.

mod choose;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::Millis;
use tokio::sync::Mutex;

use self::choose::Choose;
use super::Pipeline;
use crate::runtime::Service;
use crate::store::retention::Retentions;
use crate::store::{self, MisfireFilter, MisfireKey};

const DAY: Millis = 86_400_000;
/// Between two rounds, and between two steps of one.
const REST: Duration = Duration::from_secs(600);
const BREATH: Duration = Duration::from_millis(200);
/// Runs of a page, pages of a step, runs that a transaction deletes.
const PAGE: u32 = 1000;
const PAGES: usize = 10;
const BATCH: usize = 100;

/// The service.
pub struct Prune {
    pipeline: Arc<Pipeline>,
    round: Mutex<Round>,
}

/// How far a round has come.
#[derive(Default)]
struct Round {
    /// Runs up to this id were looked at.
    passed: i64,
    rules: Option<Retentions>,
    choose: Choose,
    deleted: u64,
}

impl Prune {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self {
            pipeline,
            round: Mutex::default(),
        }
    }

    /// One holder does it for all; and not while nobody knows what time it is.
    fn is_ours(&self) -> bool {
        let pipeline = &self.pipeline;
        !pipeline.clock_is_in_doubt()
            && pipeline
                .holdings
                .epoch(0, pipeline.clock.monotonic())
                .is_some()
    }

    /// Some pages; answers whether the round has come to its end.
    async fn pages(&self, round: &mut Round) -> store::Result<bool> {
        let store = &self.pipeline.store;
        let now = self.pipeline.clock.now();
        let rules = match &round.rules {
            Some(rules) => rules.clone(),
            None => store.retentions().await?,
        };
        round.rules = Some(rules.clone());
        for _ in 0..PAGES {
            let page = store.runs_above(round.passed, PAGE).await?;
            // By when outcomes are given up: few different ones.
            let mut going: BTreeMap<Millis, Vec<i64>> = BTreeMap::new();
            for run in &page {
                let keep = rules.keep(run.app_id, run.job_id);
                if round.choose.is_to_go(run, &keep, now) {
                    let given_up_before = match keep.failure_days {
                        0 => 0,
                        days => now - i64::from(days) * DAY,
                    };
                    going.entry(given_up_before).or_default().push(run.id);
                }
            }
            for (given_up_before, ids) in going {
                for batch in ids.chunks(BATCH) {
                    let deleted = store.prune_runs(batch, given_up_before).await?;
                    round.deleted += deleted;
                    self.pipeline.metrics.pruned.inc_by(deleted);
                    tokio::task::yield_now().await;
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE as usize => round.passed = last.id,
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Ranges of skipped instants are kept as long as failures.
    async fn misfires(&self, rules: &Retentions, now: Millis) -> store::Result<u64> {
        let store = &self.pipeline.store;
        let mut filter = MisfireFilter {
            to: Some(now - DAY),
            limit: 1000,
            ..MisfireFilter::default()
        };
        let mut deleted = 0;
        loop {
            let page = store.misfires(&filter).await?;
            let jobs: Vec<i64> = page.items.iter().map(|range| range.job_id).collect();
            let apps = store.apps_of(&jobs).await?;
            for range in &page.items {
                let app = apps.get(&range.job_id).copied().unwrap_or(0);
                let days = rules.keep(app, range.job_id).failure_days;
                if days > 0 && range.to_at < now - i64::from(days) * DAY {
                    store
                        .prune_misfire(range.job_id, range.from_at, range.to_at)
                        .await?;
                    deleted += 1;
                }
            }
            let Some(MisfireKey { from_at, job_id }) = page.next else {
                return Ok(deleted);
            };
            filter.after = Some(MisfireKey { from_at, job_id });
            tokio::task::yield_now().await;
        }
    }

    async fn end(&self, round: &mut Round) -> store::Result<()> {
        let now = self.pipeline.clock.now();
        let rules = round.rules.take().unwrap_or_default();
        let misfires = self.misfires(&rules, now).await?;
        let rest = self
            .pipeline
            .store
            .prune_rest(rules.keep(0, 0).failure_days, now)
            .await?;
        if round.deleted + misfires + rest > 0 {
            tracing::info!(
                runs = round.deleted,
                misfires,
                rest,
                "what was kept long enough is deleted"
            );
        }
        *round = Round {
            choose: std::mem::take(&mut round.choose).next_round(),
            ..Round::default()
        };
        Ok(())
    }
}

#[async_trait]
impl Service for Prune {
    fn name(&self) -> &'static str {
        "prune"
    }

    async fn step(&self) -> Duration {
        let mut round = self.round.lock().await;
        if !self.is_ours() {
            *round = Round::default();
            return Duration::from_secs(60);
        }
        let done = match self.pages(&mut round).await {
            Ok(false) => return BREATH,
            Ok(true) => self.end(&mut round).await,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            tracing::debug!(%error, "old runs could not be deleted; they are later");
            return Duration::from_secs(30);
        }
        REST
    }
}
