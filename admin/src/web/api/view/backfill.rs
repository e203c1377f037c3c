//! Backfills.

use carillon_scheduler::Millis;
use carillon_store::backfill::backfills::Backfill;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;

/// A backfill; its runs have the cause `backfill`
#[derive(Serialize, ToSchema)]
#[schema(as = Backfill)]
pub struct BackfillView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// The job
    #[schema(minimum = 1)]
    job_id: i64,
    /// The first moment
    from: Time,
    /// The end, itself excluded
    to: Time,
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
    state: BackfillState,
    /// When it was requested
    created_at: Time,
    /// When nothing was left to do
    finished_at: Option<Time>,
}

/// `released`: every instant has its run
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum BackfillState {
    Running,
    Released,
    Cancelled,
}

impl From<Backfill> for BackfillView {
    fn from(backfill: Backfill) -> Self {
        Self {
            id: backfill.id,
            job_id: backfill.job_id,
            from: Time(backfill.from_at),
            to: Time(backfill.to_at),
            max_concurrent: backfill.max_concurrent,
            instants: backfill.instants,
            released: backfill.released,
            skipped: backfill.skipped,
            state: match (backfill.finished_at, backfill.cancelled) {
                (None, _) => BackfillState::Running,
                (Some(_), false) => BackfillState::Released,
                (Some(_), true) => BackfillState::Cancelled,
            },
            created_at: Time(backfill.created_at),
            finished_at: backfill.finished_at.map(Time),
        }
    }
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
