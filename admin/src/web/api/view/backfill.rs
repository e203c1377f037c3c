//! Backfills.

use carillon_scheduler::Millis;
use carillon_store::backfill::backfills::Backfill;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;
use super::view_macro::view;

view! {
    /// A backfill; its runs have the cause `backfill`
    pub struct BackfillView as Backfill from backfill: Backfill {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        /// The job
        #[schema(minimum = 1)]
        job_id: i64,
        /// The first moment
        from: Time = Time(backfill.from_at),
        /// The end, itself excluded
        to: Time = Time(backfill.to_at),
        /// How many of its runs may be open at the same time
        #[schema(minimum = 0)]
        max_concurrent: i32,
        /// Instants in the range
        #[schema(minimum = 0)]
        instants: i32,
        /// Runs that it has created
        #[schema(minimum = 0)]
        released: i32,
        /// Instants that had a run already
        #[schema(minimum = 0)]
        skipped: i32,
        #[schema(inline)]
        state: BackfillState = match (backfill.finished_at, backfill.cancelled) { (None, _) => BackfillState::Running, (Some(_), false) => BackfillState::Released, (Some(_), true) => BackfillState::Cancelled, },
        /// When it was requested
        created_at: Time,
        /// When nothing was left to do
        finished_at: Option<Time>,
    }
}

/// `released`: every instant has its run
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum BackfillState {
    Running,
    Released,
    Cancelled,
}

/// What a backfill would run
#[derive(Serialize, ToSchema)]
pub struct BackfillInstants {
    /// Instants in the range
    instants: usize,
    /// How many of them have a run already, from an earlier backfill
    skipped: usize,
    items: Vec<Time>,
}

impl BackfillInstants {
    pub fn new(instants: Vec<Millis>, skipped: usize) -> Self {
        Self { instants: instants.len(), skipped, items: instants.into_iter().map(Time).collect() }
    }
}
