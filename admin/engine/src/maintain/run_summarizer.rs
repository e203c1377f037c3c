//! Counts runs that have ended for the reports and the metrics of apps.
//!
//! A node takes run ids in blocks, so a lower id may be inserted after a higher one; what is left of a block is given up after a
//! minute. The walk therefore goes up to the ids that were given some minutes ago and leaves the newest runs to the next step.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::RunState;
use tokio::sync::Mutex;

use crate::context::Context;
use crate::lease::held_shards::HeldShards;
use crate::runtime::{Service, Step};
use carillon_store as store;
use carillon_store::db::ids::RUN_BLOCK_AGE;

/// Between two steps when there is nothing left to count, and between two that have more.
const REST: Duration = Duration::from_secs(15);
const BREATH: Duration = Duration::from_millis(200);
/// After this time no lower id is inserted: the age of a block, and a transaction with each of its statements at its limit.
pub const LAG: Duration = RUN_BLOCK_AGE.saturating_add(Duration::from_secs(120));
/// Transactions of a step.
const PAGES: usize = 5;

pub struct RunSummarizer {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) progress: Mutex<Progress>,
}

#[derive(Default)]
pub(crate) struct Progress {
    given: VecDeque<Given>,
    /// How far the walk over the runs that were open has come.
    open_after: i64,
}

/// The first id that was not given, at a moment of the monotonic clock.
#[derive(Clone, Copy)]
struct Given {
    at: Duration,
    next_id: i64,
}

impl RunSummarizer {
    /// Runs below this id are all inserted.
    async fn horizon(&self, given: &mut VecDeque<Given>) -> store::Result<Option<i64>> {
        let at = self.cx.clock.monotonic();
        given.push_back(Given { at, next_id: self.cx.store.reports().run_ids_given().await? });
        let is_settled = |given: &Given| given.at + LAG <= at;
        while given.get(1).is_some_and(is_settled) {
            given.pop_front();
        }
        Ok(given.front().filter(|given| is_settled(given)).map(|given| given.next_id))
    }

    /// Counts runs for the metrics of their apps.
    async fn count(&self, ended: &BTreeMap<(i64, i16), u64>) -> store::Result<()> {
        if ended.is_empty() {
            return Ok(());
        }
        let names = self.cx.store.apps().names().await?;
        for ((app_id, state), count) in ended {
            if let (Some(app), Some(state)) = (names.get(app_id), RunState::from_code(*state)) {
                self.cx.metrics.count_app_runs(app, state, *count);
            }
        }
        Ok(())
    }

    async fn round(&self, progress: &mut Progress, counted: &mut usize) -> store::Result<bool> {
        let (store, now) = (&self.cx.store, self.cx.clock.now());
        let horizon = self.horizon(&mut progress.given).await?;
        self.cx.metrics.set_app_open(store.runs().open_runs_of_apps(self.held.total()).await?);
        let mut has_more = false;
        for _ in 0..PAGES {
            let passed = match horizon {
                Some(before) => store.reports().summarize_runs(before, now).await?,
                None => store::report::summarize::Summarized::default(),
            };
            let ended = store.reports().summarize_ended(progress.open_after, now).await?;
            progress.open_after = ended.open_after;
            self.count(&passed.ended).await?;
            self.count(&ended.ended).await?;
            *counted += passed.runs + ended.runs;
            has_more = passed.has_more || ended.has_more;
            if !has_more {
                break;
            }
            tokio::task::yield_now().await;
        }
        Ok(has_more)
    }
}

impl Service for RunSummarizer {
    const NAME: &'static str = "summarize";
    /// Runs that were passed or counted.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let mut progress = self.progress.lock().await;
        // One holder does it for all. Two at once, for a moment, do no harm: the cursor moves under one of them.
        if !self.held.has_first() {
            *progress = Progress::default();
            self.cx.metrics.set_app_open([]);
            return Step { did: 0, next: Duration::from_secs(60) };
        }
        let mut did = 0;
        let next = match self.round(&mut progress, &mut did).await {
            Ok(true) => BREATH,
            Ok(false) => REST,
            Err(error) => {
                tracing::debug!(%error, "runs could not be counted for the reports; they are later");
                Duration::from_secs(30)
            }
        };
        Step { did, next }
    }
}
