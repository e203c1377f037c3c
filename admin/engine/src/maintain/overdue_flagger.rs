//! What somebody should look at: runs that are due and were not sent for too long, flagged by the holder of their shard, and
//! alarms that nobody has resolved, escalated by the holder of the first one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::Millis;

use crate::Pipeline;
use crate::runtime::Service;
use crate::settings::ms;
use crate::store;
use crate::store::alarm::alarms::AlarmRow;
use crate::store::run::open::overdue::{Late, PAGE};

/// A run is flagged within a second of its time.
const EVERY: Duration = Duration::from_secs(1);

/// Flagged in one round for each shard; the others are in the next one.
const MOST: usize = 500;

/// What each shard's look saw, under which epoch. After an outage everything is late when it is claimed, and sent
/// milliseconds later: only what a second look sees too is stuck.
#[derive(Default)]
struct Seen(HashMap<i32, (i64, HashSet<i64>)>);

impl Seen {
    /// Those that are late, and were there the last time.
    fn again(&mut self, shard: i32, epoch: i64, late: &[Late], now: Millis) -> Vec<i64> {
        let ids = late.iter().map(|run| run.run_id).collect();
        let (in_epoch, before) = self.0.insert(shard, (epoch, ids)).unwrap_or_default();
        let is_stuck = |run: &&Late| run.late_at <= now && before.contains(&run.run_id);
        match in_epoch == epoch {
            true => late.iter().filter(is_stuck).map(|run| run.run_id).take(MOST).collect(),
            false => vec![],
        }
    }
}

/// Every so many looks a shard is looked at from its oldest run on; the others begin where that one lies.
const WHOLE: u32 = 10;
/// A run that is adopted or caught up may be due a little before what waited at the last whole look.
const BEHIND_MS: i64 = 60_000;

/// Where the next look at a shard begins.
#[derive(Clone, Copy)]
struct Begin {
    epoch: i64,
    from: Millis,
    /// Looks until the next whole one.
    left: u32,
}

pub struct Pending {
    pipeline: Arc<Pipeline>,
    seen: Mutex<Seen>,
    begins: Mutex<HashMap<i32, Begin>>,
}

impl Pending {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self { pipeline, seen: Mutex::default(), begins: Mutex::default() }
    }

    /// Where a look at the shard begins now. None: a whole look is due.
    fn begin(&self, shard: i32, epoch: i64) -> Option<Millis> {
        let mut begins = self.begins.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = begins.get_mut(&shard)?;
        begin.left = begin.left.checked_sub(1)?;
        (begin.epoch == epoch).then_some(begin.from)
    }

    async fn begin_anew(&self, shard: i32, epoch: i64, now: Millis) -> store::Result<()> {
        let oldest = self.pipeline.store.oldest_waiting(shard, epoch).await?;
        let begin = Begin { epoch, from: oldest.map_or(now, |oldest| oldest.min(now)) - BEHIND_MS, left: WHOLE - 1 };
        let mut begins = self.begins.lock().unwrap_or_else(PoisonError::into_inner);
        begins.insert(shard, begin);
        Ok(())
    }

    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.pipeline;
        if pipeline.clock_is_in_doubt() {
            return Ok(());
        }
        let after = ms(pipeline.settings.flag_after);
        for shard in pipeline.holdings.all().into_keys() {
            let Some(epoch) = pipeline.holdings.epoch(shard, pipeline.clock.monotonic()) else {
                continue;
            };
            self.look(shard, epoch, after).await?;
        }
        Ok(())
    }

    async fn look(&self, shard: i32, epoch: i64, after: i64) -> store::Result<()> {
        let pipeline = &self.pipeline;
        let now = pipeline.clock.now();
        // Ahead by two looks, since a round takes its time too: what becomes late until the next one has been seen then.
        let until = now + 2 * ms(EVERY);
        let from = self.begin(shard, epoch);
        if from.is_none() {
            self.begin_anew(shard, epoch, now).await?;
        }
        let from = from.unwrap_or(Millis::MIN);
        let late = pipeline.store.late(shard, epoch, after, from, until).await?;
        let stuck = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.again(shard, epoch, &late, now)
        };
        for page in stuck.chunks(PAGE) {
            let flagged = pipeline.store.flag(page, now).await?;
            pipeline.metrics.flagged.inc_by(flagged.runs as u64);
            for alarm in &flagged.alarms {
                pipeline.tell_alarm(alarm);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Service for Pending {
    fn name(&self) -> &'static str {
        "pending"
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::debug!(%error, "runs that wait could not be looked at; the next round goes on");
        }
        EVERY
    }
}

pub struct Escalate(pub Arc<Pipeline>);

impl Escalate {
    async fn round(&self) -> store::Result<()> {
        let pipeline = &self.0;
        let is_ours = pipeline.holdings.epoch(0, pipeline.clock.monotonic()).is_some();
        if !is_ours || pipeline.clock_is_in_doubt() {
            return Ok(());
        }
        let now = pipeline.clock.now();
        pipeline.store.close_what_is_over(now).await?;
        let since = now - ms(pipeline.settings.escalate_after);
        for row in pipeline.store.escalate(since, now).await? {
            self.tell(&row);
        }
        Ok(())
    }

    fn tell(&self, row: &AlarmRow) {
        let alarm = &row.alarm;
        self.0.metrics.escalated.with_label_values(&[alarm.kind.as_str()]).inc();
        let minutes = ms(self.0.settings.escalate_after) / 60_000;
        tracing::warn!(
            alarm.id = row.id,
            alarm.kind = %alarm.kind,
            job.id = alarm.job_id,
            run.id = alarm.run_id,
            "alarm, unresolved for {minutes} minutes: {}",
            alarm.text
        );
    }
}

#[async_trait]
impl Service for Escalate {
    fn name(&self) -> &'static str {
        "escalate"
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "open alarms could not be looked at; the next round goes on");
        }
        self.0.settings.resolve_every
    }
}

#[cfg(test)]
mod tests {
    use crate::maintain::overdue_flagger::{Late, MOST, Seen};

    fn late(ids: std::ops::Range<i64>, late_at: i64) -> Vec<Late> {
        ids.map(|run_id| Late { run_id, late_at }).collect()
    }

    #[test]
    fn only_what_two_looks_of_one_epoch_saw_is_stuck_and_not_before_its_time() {
        let mut seen = Seen::default();
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
