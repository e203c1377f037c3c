//! Runs that are due and were not sent for too long are flagged by the holder of their shard.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Millis;
use foldhash::{HashMap, HashSet};
use parking_lot::Mutex;

use crate::context::Context;
use crate::dispatch::app_pauses::AppPauses;
use crate::lease::clock_guard::ClockGuard;
use crate::lease::held_shards::HeldShards;
use crate::runtime::{Service, Step};
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::open::overdue::{OverdueRun, PAGE};

/// A run is flagged within a second of its time.
const EVERY: Duration = Duration::from_secs(1);

/// Flagged in one round for each shard; the others are in the next one.
const MOST: usize = 500;

/// What each shard's look saw, under which epoch. After an outage everything is late when it is claimed, and sent
/// milliseconds later: only what a second look sees too is stuck.
#[derive(Default)]
pub(crate) struct SeenRuns(HashMap<i32, (i64, HashSet<i64>)>);

impl SeenRuns {
    /// Those that are late, and were there the last time.
    fn again(&mut self, shard: i32, epoch: i64, late: &[OverdueRun], now: Millis) -> Vec<i64> {
        let ids = late.iter().map(|run| run.run_id).collect();
        let (in_epoch, before) = self.0.insert(shard, (epoch, ids)).unwrap_or_default();
        let is_stuck = |run: &&OverdueRun| run.late_at <= now && before.contains(&run.run_id);
        match in_epoch == epoch {
            true => late.iter().filter(is_stuck).map(|run| run.run_id).take(MOST).collect(),
            false => vec![],
        }
    }

    /// Nothing of the shard is late.
    fn forget(&mut self, shard: i32) {
        self.0.remove(&shard);
    }
}

/// After this many looks a shard is looked at from its oldest run on; the others begin where that one lies.
const FULL_SCAN_EVERY: u32 = 10;
/// A run that is adopted or caught up may be due a little before what waited at the last whole look.
const OVERLAP_MS: i64 = 60_000;

/// Where the next look at a shard begins.
#[derive(Clone, Copy)]
pub(crate) struct Begin {
    epoch: i64,
    from: Millis,
    /// Looks until the next whole one.
    left: u32,
}

pub struct OverdueFlagger {
    pub(crate) cx: Arc<Context>,
    pub(crate) held: Arc<HeldShards>,
    pub(crate) clock_guard: Arc<ClockGuard>,
    pub(crate) pauses: Arc<AppPauses>,
    pub(crate) seen: Mutex<SeenRuns>,
    pub(crate) begins: Mutex<HashMap<i32, Begin>>,
}

impl OverdueFlagger {
    /// Where a look at the shard begins now. None: a whole look is due.
    fn begin(&self, shard: i32, epoch: i64) -> Option<Millis> {
        let mut begins = self.begins.lock();
        let begin = begins.get_mut(&shard)?;
        begin.left = begin.left.checked_sub(1)?;
        (begin.epoch == epoch).then_some(begin.from)
    }

    async fn begin_anew(&self, shard: i32, epoch: i64, now: Millis) -> store::Result<()> {
        let oldest = self.cx.store.runs().oldest_waiting(shard, epoch).await?;
        let begin =
            Begin { epoch, from: oldest.map_or(now, |oldest| oldest.min(now)) - OVERLAP_MS, left: FULL_SCAN_EVERY - 1 };
        let mut begins = self.begins.lock();
        begins.insert(shard, begin);
        Ok(())
    }

    async fn round(&self, flagged: &mut usize) -> store::Result<()> {
        if self.clock_guard.is_suspect() {
            return Ok(());
        }
        let now = self.cx.clock.now();
        let mut held = Vec::new();
        for (shard, epoch) in self.held.trusted() {
            match self.begin(shard, epoch) {
                Some(from) => held.push((shard, epoch, from)),
                None => {
                    self.begin_anew(shard, epoch, now).await?;
                    *flagged += self.look(shard, epoch, Millis::MIN).await?;
                }
            }
        }
        if held.is_empty() {
            return Ok(());
        }
        // Most of the time nothing that was due waits in any of them.
        let with_overdue = self.cx.store.runs().shards_with_overdue(&held, now).await?;
        for (shard, epoch, from) in held {
            match with_overdue.contains(&shard) {
                true => *flagged += self.look(shard, epoch, from).await?,
                false => self.seen.lock().forget(shard),
            }
        }
        Ok(())
    }

    async fn look(&self, shard: i32, epoch: i64, from: Millis) -> store::Result<usize> {
        let (now, after) = (self.cx.clock.now(), ms(self.cx.settings.flag_after));
        // Ahead by two looks, since a round takes its time too: what becomes late until the next one has been seen then.
        let until = now + 2 * ms(EVERY);
        let late = match self.pauses.paused_apps(now) {
            Some(paused) => self.cx.store.runs().late(shard, epoch, after, from, until, &paused).await?,
            None => vec![],
        };
        let stuck = self.seen.lock().again(shard, epoch, &late, now);
        for page in stuck.chunks(PAGE) {
            let flagged = self.cx.store.runs().flag_runs(page, now).await?;
            self.cx.metrics.flagged.inc_by(flagged.runs as u64);
            for alarm in &flagged.alarms {
                self.cx.log_alarm(alarm);
            }
        }
        Ok(stuck.len())
    }
}

impl Service for OverdueFlagger {
    const NAME: &'static str = "flag overdue";
    /// Runs that were flagged.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let mut did = 0;
        if let Err(error) = self.round(&mut did).await {
            tracing::debug!(%error, "runs that wait could not be looked at; the next round goes on");
        }
        Step { did, next: EVERY }
    }
}

#[cfg(test)]
mod tests {
    use crate::maintain::overdue_flagger::{MOST, OverdueRun, SeenRuns};

    fn late(ids: std::ops::Range<i64>, late_at: i64) -> Vec<OverdueRun> {
        ids.map(|run_id| OverdueRun { run_id, late_at }).collect()
    }

    #[test]
    fn only_what_two_looks_of_one_epoch_saw_is_stuck_and_not_before_its_time() {
        let mut seen = SeenRuns::default();
        assert_eq!(seen.again(3, 1, &late(1..3, 9), 10), [0; 0]);
        assert_eq!(seen.again(3, 1, &late(2..4, 9), 11), [2]);
        assert_eq!(seen.again(4, 1, &late(3..4, 9), 11), [0; 0], "another shard");
        assert_eq!(seen.again(3, 2, &late(3..4, 9), 12), [0; 0], "another epoch");
        assert_eq!(seen.again(3, 2, &late(3..4, 14), 13), [0; 0], "too early");
        assert_eq!(seen.again(3, 2, &late(3..4, 14), 14), [3]);
        assert_eq!(seen.again(3, 2, &[], 15), [0; 0]);
        assert_eq!(seen.again(3, 2, &late(3..4, 14), 16), [0; 0], "it was away");
        let many = late(0..900, 9);
        assert_eq!(seen.again(3, 2, &many, 17), [3]);
        assert_eq!(seen.again(3, 2, &many, 18).len(), MOST);
    }
}
