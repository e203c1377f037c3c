//! What has been kept long enough is deleted, by the holder of the first shard, five hundred runs at a time, so that other writers
//! wait for no more than that.
//!
//! Two walks along the ids. One, the oldest first, looks at each run when it has come to the shortest age for which any rule keeps runs:
//! it reads what is old enough and nothing else, so most runs go by it. The other goes over all runs, the newest first, a thousand a
//! second or as many as end it within 20 hours: it finds what a longer rule kept, a job's runs above its number, and failures that are not
//! its last any more. It needs nothing of earlier walks, so a node that is restarted each day deletes as much. It also finds which sets of
//! executors no run names any more. Which failures are a job's last says a table that the reports keep.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Millis;
use foldhash::HashSet;
use tokio::sync::Mutex;

use crate::context::Context;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::maintain::idle_sets::IdleSets;
use crate::maintain::retention_filter::{DAY, RetentionFilter, failures_to_keep, is_aged};
use crate::runtime::{Periodic, Service, Step};
use carillon_store as store;
use carillon_store::retention::prune_runs::PrunableRun;
use carillon_store::retention::rules::Retentions;
use carillon_store::{MisfireFilter, MisfireKey};

/// Between two rounds; between two steps that find what is old; and between two pages of the walk over all runs.
const REST: Duration = Duration::from_secs(600);
const BREATH: Duration = Duration::from_millis(50);
const PACE: Duration = Duration::from_secs(1);
/// The time within which the walk over all runs ends: less than a day, so that it ends also between two restarts of each night. A step
/// reads no more than this number of pages: with more runs it takes longer.
const WALK: Duration = Duration::from_secs(20 * 3600);
const MAX_PAGES_OF_ALL: i64 = 50;
/// What belonged to jobs that are gone is looked for.
const ORPHANS: Duration = Duration::from_secs(24 * 3600);
/// Runs of a page, pages of a step that finds what is old, runs that a transaction deletes.
const PAGE: u32 = 1000;
const PAGES: usize = 10;
const BATCH: usize = 500;

/// The service.
pub struct Pruner {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) clock_guard: Arc<ClockGuard>,
    pub(crate) round: Mutex<Round>,
    /// The walk to what is old.
    pub(crate) aged: Periodic,
    pub(crate) orphans: Periodic,
}

/// How far the walks have come.
#[derive(Default)]
pub(crate) struct Round {
    rules: Retentions,
    /// Runs up to this id are in the reports: no walk looks at others.
    summarized: i64,
    /// The walk over all: it goes on with the runs below this id (None: it begins), down to this one; since when, and how many pages
    /// its next step reads.
    below: Option<i64>,
    oldest: i64,
    began: Duration,
    pages: i64,
    filter: RetentionFilter,
    sets: IdleSets,
    /// The walk to what is old: the same, and up to which id it goes now.
    aged: i64,
    aged_to: Option<i64>,
    deleted: u64,
}

impl Pruner {
    /// One holder does it for all; and not while the time is in doubt.
    fn is_ours(&self) -> bool {
        !self.clock_guard.is_suspect() && self.held.has_first()
    }

    /// Begins the walk to what has become old.
    async fn begin(&self, round: &mut Round) -> store::Result<()> {
        let store = &self.cx.store;
        round.rules = store.retention().rules().await?;
        round.summarized = store.reports().summarized_to().await?;
        let to = match round.rules.shortest() {
            Some(days) => {
                let before = self.cx.clock.now() - i64::from(days) * DAY;
                store.retention().last_run_due_before(before).await?.min(round.summarized)
            }
            None => 0,
        };
        round.aged_to = Some(to);
        Ok(())
    }

    /// Some pages of it; answers whether it has come to its end.
    async fn aged_pages(&self, round: &mut Round, to: i64) -> store::Result<bool> {
        let now = self.cx.clock.now();
        for _ in 0..PAGES {
            if round.aged >= to {
                return Ok(true);
            }
            let mut page = self.cx.store.retention().runs_above(round.aged, PAGE).await?;
            page.retain(|run| run.id <= to);
            let passed = page.last().map_or(to, |last| last.id);
            let last_failures = self.last_failures(&page, &round.rules, now).await?;
            page.retain(|run| is_aged(run, &round.rules.keep(run.app_id, run.job_id), &last_failures, now));
            round.deleted += self.delete(&page, &round.rules, now).await?;
            round.aged = passed;
        }
        Ok(false)
    }

    async fn last_failures(
        &self,
        page: &[PrunableRun],
        rules: &Retentions,
        now: Millis,
    ) -> store::Result<HashSet<i64>> {
        self.cx.store.reports().last_failures(&failures_to_keep(page, rules, now)).await
    }

    /// A step of the walk over all; answers whether it has come to its end.
    async fn pages(&self, round: &mut Round, mut below: i64) -> store::Result<bool> {
        let mut ids_of_page = 0;
        for _ in 0..round.pages.max(1) {
            let Some(next) = self.page(round, below).await? else {
                return Ok(true);
            };
            ids_of_page = below - next;
            below = next;
            round.below = Some(next);
            tokio::task::yield_now().await;
        }
        let elapsed = self.cx.clock.monotonic().saturating_sub(round.began);
        round.pages = pages_of_a_step(below - round.oldest, ids_of_page, elapsed);
        Ok(false)
    }

    /// A page of the walk over all; answers below which id it goes on; None: it was the last one.
    async fn page(&self, round: &mut Round, below: i64) -> store::Result<Option<i64>> {
        let now = self.cx.clock.now();
        let mut page = self.cx.store.retention().runs_below(below, PAGE).await?;
        round.sets.keep_named(&page);
        let last = page.last().map(|run| run.id).filter(|_| page.len() == PAGE as usize);
        let (rules, filter) = (&round.rules, &mut round.filter);
        let last_failures = self.last_failures(&page, rules, now).await?;
        page.retain(|run| filter.should_delete(run, &rules.keep(run.app_id, run.job_id), &last_failures, now));
        round.deleted += self.delete(&page, &round.rules, now).await?;
        Ok(last)
    }

    /// Begins the walk over all; answers below which id.
    async fn begin_all(&self, round: &mut Round) -> store::Result<i64> {
        let store = &self.cx.store;
        round.rules = store.retention().rules().await?;
        round.summarized = store.reports().summarized_to().await?;
        round.oldest = store.retention().runs_above(0, 1).await?.first().map_or(0, |run| run.id);
        round.sets.begin(store, self.cx.clock.now(), round.summarized).await?;
        round.filter = RetentionFilter::default();
        (round.began, round.pages) = (self.cx.clock.monotonic(), 1);
        Ok(round.summarized + 1)
    }

    async fn delete(&self, runs: &[PrunableRun], rules: &Retentions, now: Millis) -> store::Result<u64> {
        // By when outcomes are given up: few different ones.
        let mut going: BTreeMap<Millis, Vec<i64>> = BTreeMap::new();
        for run in runs {
            let given_up_before = match rules.keep(run.app_id, run.job_id).failure_days {
                0 => 0,
                days => now - i64::from(days) * DAY,
            };
            going.entry(given_up_before).or_default().push(run.id);
        }
        let mut all = 0;
        for (given_up_before, ids) in going {
            for batch in ids.chunks(BATCH) {
                let deleted = self.cx.store.retention().prune_runs(batch, given_up_before);
                let deleted = deleted.await?;
                all += deleted;
                self.cx.metrics.pruned.inc_by(deleted);
                tokio::task::yield_now().await;
            }
        }
        Ok(all)
    }

    /// Ranges of skipped instants are kept as long as failures.
    async fn misfires(&self, rules: &Retentions, now: Millis) -> store::Result<u64> {
        let store = &self.cx.store;
        let Some(days) = rules.shortest() else {
            return Ok(0);
        };
        let mut filter =
            MisfireFilter { to: Some(now - i64::from(days) * DAY), limit: 1000, ..MisfireFilter::default() };
        let mut deleted = 0;
        loop {
            let page = store.runs().misfires(&filter).await?;
            let jobs: Vec<i64> = page.items.iter().map(|range| range.job_id).collect();
            let apps = store.retention().apps_of(&jobs).await?;
            for range in &page.items {
                let app = apps.get(&range.job_id).copied().unwrap_or(0);
                let days = rules.keep(app, range.job_id).failure_days;
                if days > 0 && range.to_at < now - i64::from(days) * DAY {
                    store.retention().prune_misfire(range.job_id, range.from_at, range.to_at).await?;
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

    /// What else is old.
    async fn rest(&self, round: &mut Round) -> store::Result<()> {
        let (store, now) = (&self.cx.store, self.cx.clock.now());
        let misfires = self.misfires(&round.rules, now).await?;
        let alarm_days = round.rules.keep(0, 0).failure_days;
        let mut rest = store.retention().prune_rest(alarm_days, now).await?;
        // The deletion of a job leaves most of them. A failure holds up none of the others.
        match store.delayed().discard_orphans().await {
            Ok(jobs) => rest += jobs,
            Err(error) => tracing::warn!(%error, "delayed triggers of deleted jobs are deleted later"),
        }
        let monotonic = self.cx.clock.monotonic();
        if self.orphans.start_if_due(monotonic, ORPHANS) {
            rest += store.retention().prune_former_texts(now).await?;
            rest += store.retention().prune_orphans().await?;
        }
        let runs = std::mem::take(&mut round.deleted);
        if runs + misfires + rest > 0 {
            tracing::info!(
                run.count = runs,
                misfire.count = misfires,
                row.count = rest,
                "what was kept long enough is deleted"
            );
        }
        Ok(())
    }

    /// The next piece of work; answers when the one after it is due.
    async fn work(&self, round: &mut Round) -> store::Result<Duration> {
        if self.aged.start_if_due(self.cx.clock.monotonic(), REST) {
            self.begin(round).await?;
        }
        if let Some(to) = round.aged_to {
            if !self.aged_pages(round, to).await? {
                return Ok(BREATH);
            }
            round.aged_to = None;
            self.rest(round).await?;
        }
        let below = match round.below {
            Some(below) => below,
            None => self.begin_all(round).await?,
        };
        if !self.pages(round, below).await? {
            return Ok(PACE);
        }
        round.sets.end(&self.cx.store).await?;
        round.below = None;
        Ok(REST)
    }
}

impl Service for Pruner {
    const NAME: &'static str = "prune";
    type Report = ();

    async fn step(&self) -> Step {
        let mut round = self.round.lock().await;
        if !self.is_ours() {
            *round = Round::default();
            return Step::after(Duration::from_secs(60));
        }
        let next = self.work(&mut round).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "old runs could not be deleted; they are later");
            Duration::from_secs(30)
        });
        Step::after(next)
    }
}

/// How many pages each step has to read from now on, if the ids that are left are as dense as those of the last page.
fn pages_of_a_step(ids_left: i64, ids_of_page: i64, elapsed: Duration) -> i64 {
    let pages_left = ids_left / ids_of_page.max(1) + 1;
    let steps_left = WALK.saturating_sub(elapsed).as_secs() / PACE.as_secs();
    (pages_left / i64::try_from(steps_left.max(1)).unwrap_or(i64::MAX) + 1).clamp(1, MAX_PAGES_OF_ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: G7
    #[test]
    fn the_walk_over_all_runs_reads_more_at_once_where_a_day_would_not_do() {
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        assert_eq!(pages_of_a_step(10_000_000, 1_000, hours(0)), 1);
        assert_eq!(pages_of_a_step(600_000_000, 1_000, hours(0)), 9, "a week of a thousand runs a second");
        assert_eq!(pages_of_a_step(600_000_000, 2_000, hours(0)), 5, "every second id has no run");
        assert_eq!(pages_of_a_step(100_000_000, 1_000, hours(19)), 28);
        assert_eq!(pages_of_a_step(100_000_000, 1_000, hours(30)), MAX_PAGES_OF_ALL, "it is late");
        assert_eq!(pages_of_a_step(0, 0, hours(0)), 1);
    }
}
