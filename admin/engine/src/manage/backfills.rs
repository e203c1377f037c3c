//! Runs for instants of the past: requested once; the holder of the job's shard creates them, a limited number at a time.

use carillon_accounts::policy::Action;
use carillon_scheduler::{KindDraft, Millis, MisfirePolicy, PlanInput, Schedule, plan};
use carillon_store::Actor;
use carillon_store::backfill::backfills::{Backfill, NewBackfill};
use chrono::{DateTime, SecondsFormat};

use crate::manage::entry_points::Backfills;
use crate::manage::error::Error;
use crate::manage::limits::costly::blocking;

/// Instants of one backfill.
pub const MAX_INSTANTS: usize = 100_000;

/// Runs of one backfill that may be open at once.
pub const MAX_CONCURRENT: i32 = 100;

/// A range of instants, `from` ≤ t < `to`.
#[derive(Clone, Copy, Debug)]
pub struct BackfillRange {
    pub job_id: i64,
    pub from_at: Millis,
    pub to_at: Millis,
}

impl Backfills<'_> {
    /// The instants of a range by the present schedule of the job, and those of them that have a run already.
    ///
    /// # Errors
    /// `Missing`: the job. `Invalid`: a range that is empty, not in the past, or has too many instants; a schedule without instants
    pub async fn instants(&self, range: BackfillRange, by: &Actor) -> Result<(Vec<Millis>, Vec<Millis>), Error> {
        let engine = self.engine;
        let _place = engine.costly.enter(by).await?;
        if range.to_at <= range.from_at {
            return Err(Error::field("to", "must be later than `from`"));
        }
        if range.to_at > engine.cx.clock.now() {
            return Err(Error::field("to", "must not lie in the future: what is still to come is the schedule's"));
        }
        let job = engine.jobs().get(range.job_id).await?;
        if job.draft.is_best_effort() {
            return Err(Error::field(
                "schedule",
                "the fires of a best-effort job are not recorded, so none can be missing",
            ));
        }
        let schedule = job.schedule().map_err(|error| Error::Invalid(vec![error]))?;
        if schedule.is_delay() {
            let text = "a fixed delay has no instants of its own: they depend on the ends of its runs";
            return Err(Error::field("schedule", text));
        }
        let planned = schedule.clone();
        let instants = blocking(move || instants(&planned, range)).await?;
        if instants.is_empty() {
            return Err(nothing(&schedule, range));
        }
        if instants.len() > MAX_INSTANTS {
            let text = format!("the range has more than {MAX_INSTANTS} instants; ask for it in parts");
            return Err(Error::field("from", text));
        }
        let made = engine.cx.store.backfills().recorded_instants(range.job_id, &instants).await?;
        Ok((instants, made))
    }

    /// Stores a backfill; its runs follow.
    ///
    /// # Errors
    /// `Forbidden`. As [`Backfills::instants`]. `Invalid`: a number of open runs that is not allowed
    pub async fn create(&self, range: BackfillRange, max_concurrent: i32, by: &Actor) -> Result<Backfill, Error> {
        let job = self.engine.require_for_job(by, Action::Operate, range.job_id).await?;
        check_concurrency(max_concurrent)?;
        let new = NewBackfill {
            job,
            from_at: range.from_at,
            to_at: range.to_at,
            max_concurrent,
            instants: self.instants(range, by).await?.0,
        };
        let engine = self.engine;
        let made = engine.cx.store.backfills().create(&new, engine.cx.clock.now(), by).await?;
        engine.backfill_runs.wake.notify_one();
        Ok(made)
    }

    /// Creates no further runs; the existing ones stay.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`
    pub async fn cancel(&self, id: i64, by: &Actor) -> Result<Backfill, Error> {
        self.engine.require_for_backfill(by, Action::Operate, id).await?;
        Ok(self.engine.cx.store.backfills().cancel(id, self.engine.cx.clock.now(), by).await?)
    }
}

fn check_concurrency(count: i32) -> Result<(), Error> {
    match (1..=MAX_CONCURRENT).contains(&count) {
        true => Ok(()),
        false => Err(Error::field("max_concurrent", format!("{count} is not allowed; 1 to {MAX_CONCURRENT} runs"))),
    }
}

/// Why a range has no instant.
fn nothing(schedule: &Schedule, range: BackfillRange) -> Error {
    if matches!(schedule.draft().kind, KindDraft::None) {
        let text = "the job has no schedule: it is run by hand or through the API, so it has no instants";
        return Error::field("schedule", text);
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
    Error::field("from", text)
}

/// By the planner, as if the range had just become due: nothing of it is late, so nothing is left out.
fn instants(schedule: &Schedule, range: BackfillRange) -> Vec<Millis> {
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
