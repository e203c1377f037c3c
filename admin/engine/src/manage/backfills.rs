//! Runs for instants of the past: asked for once, released so many at a time by the holder of the job's shard.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::{FieldError, KindDraft, Millis, MisfirePolicy, PlanInput, Schedule, plan};
use chrono::{DateTime, SecondsFormat};
use tokio::sync::Notify;

use crate::runtime::Service;
use crate::store;
use crate::store::Actor;
use crate::store::backfill::backfills::{Backfill, NewBackfill};
use crate::store::backfill::release::Open;
use crate::{Error, Pipeline};

/// Instants of one backfill.
pub const MAX_INSTANTS: usize = 100_000;

/// Runs of one backfill that may be open at once.
pub const MAX_CONCURRENT: i32 = 100;

/// How often is looked for what can be released, if nothing that ends here wakes it.
const POLL: Duration = Duration::from_secs(1);

/// Runs that end within this time are followed by one look.
const ENDED_TOGETHER: Duration = Duration::from_millis(20);

/// A range of instants, `from` ≤ t < `to`.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub job_id: i64,
    pub from_at: Millis,
    pub to_at: Millis,
}

/// The open runs of backfills that this node has released; only to be quick.
#[derive(Default)]
pub struct Backfills {
    runs: Mutex<HashSet<i64>>,
    pub wake: Arc<Notify>,
}

impl Backfills {
    fn opened(&self, run_ids: &[i64]) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.extend(run_ids);
    }

    /// Wakes the service if one of these was ours.
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

impl Pipeline {
    /// The instants of a range by the job's schedule of now, and those of them that have their run already.
    ///
    /// # Errors
    /// No such job; a range that is none, or not in the past, or has too many instants; a schedule without instants.
    pub async fn backfill_instants(&self, range: Range) -> Result<(Vec<Millis>, Vec<Millis>), Error> {
        if range.to_at <= range.from_at {
            return Err(wrong("to", "must be later than `from`"));
        }
        if range.to_at > self.clock.now() {
            return Err(wrong("to", "must not lie in the future: what is still to come is the schedule's"));
        }
        let job = self.store.job(range.job_id).await?.ok_or(Error::MissingJob)?;
        let schedule = job.schedule().map_err(Error::Field)?;
        if schedule.is_delay() {
            let text = "a fixed delay has no instants of its own: they depend on the ends of its runs";
            return Err(wrong("schedule", text));
        }
        let instants = instants(&schedule, range);
        if instants.is_empty() {
            return Err(nothing(&schedule, range));
        }
        if instants.len() > MAX_INSTANTS {
            let text = format!("the range has more than {MAX_INSTANTS} instants; ask for it in parts");
            return Err(wrong("from", text));
        }
        let made = self.store.backfilled(range.job_id, &instants).await?;
        Ok((instants, made))
    }

    /// Writes a backfill down; its runs follow.
    ///
    /// # Errors
    /// As above, and the database.
    pub async fn backfill(&self, range: Range, max_concurrent: i32, actor: &Actor) -> Result<Backfill, Error> {
        let new = NewBackfill {
            job_id: range.job_id,
            from_at: range.from_at,
            to_at: range.to_at,
            max_concurrent,
            instants: self.backfill_instants(range).await?.0,
        };
        let made = self.store.create_backfill(&new, self.clock.now(), actor).await?;
        self.backfills.wake.notify_one();
        Ok(made)
    }

    async fn release(&self, open: &Open) -> store::Result<()> {
        loop {
            let released = self.store.release_backfill(open, self.clock.now()).await?;
            if !released.runs.is_empty() {
                self.backfills.opened(&released.runs);
                self.job_changed(open.shard);
            }
            if released.finished || released.full {
                return Ok(());
            }
        }
    }
}

fn wrong(field: &str, message: impl Into<String>) -> Error {
    Error::Field(FieldError::new(field, message))
}

/// Why a range has no instant.
fn nothing(schedule: &Schedule, range: Range) -> Error {
    if matches!(schedule.draft().kind, KindDraft::None) {
        let text = "the job has no schedule: it is run by hand or through the API, so it has no instants";
        return wrong("schedule", text);
    }
    let next = schedule.next_after(range.from_at - 1);
    let next = next.and_then(DateTime::from_timestamp_millis);
    let text = match next {
        Some(at) => format!(
            "no instant of the job lies between `from` and `to`; the first one after `from` is {}",
            at.to_rfc3339_opts(SecondsFormat::Millis, true)
        ),
        None => "the job's schedule has no instant after `from`".to_owned(),
    };
    wrong("from", text)
}

/// By the planner, as if the range had just become due: nothing of it is late, so nothing is left out.
fn instants(schedule: &Schedule, range: Range) -> Vec<Millis> {
    let timing = PlanInput {
        misfire: MisfirePolicy::Skip,
        misfire_threshold_ms: i64::from(i32::MAX),
        ..PlanInput::new(schedule)
    };
    match schedule.next_after(range.from_at - 1) {
        Some(first) => {
            let limit = MAX_INSTANTS + 1;
            plan(&timing, first, range.from_at, range.to_at - 1, limit).fires
        }
        None => vec![],
    }
}

/// Releases what may be open, of the shards that this node holds.
pub struct Backfilling(pub Arc<Pipeline>);

#[async_trait]
impl Service for Backfilling {
    fn name(&self) -> &'static str {
        "backfill"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.0.backfills.wake.clone())
    }

    fn linger(&self) -> Duration {
        ENDED_TOGETHER
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "backfills could not be looked after; the next round goes on");
        }
        POLL
    }
}

impl Backfilling {
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
        // Most are full most of the time: one question for all of them.
        ours.retain(|open| {
            let count = running.get(&open.job_id).copied().unwrap_or(0);
            count < i64::from(open.max_concurrent)
        });
        for open in ours {
            pipeline.release(&open).await?;
        }
        Ok(())
    }
}
