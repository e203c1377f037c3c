use super::misfire::{self, CatchUp, MisfirePolicy};
use crate::schedule::Schedule;

/// The members of a job that planning depends on.
#[derive(Debug, Clone, Copy)]
pub struct PlanInput<'a> {
    /// When it fires.
    pub schedule: &'a Schedule,
    /// The rule for instants that are late by at most the threshold.
    pub catch_up: CatchUp,
    /// The rule for instants that are late by more than the threshold.
    pub misfire: MisfirePolicy,
    /// The threshold, in ms.
    pub misfire_threshold_ms: i64,
    /// How many missed instants [`MisfirePolicy::FireAll`] runs.
    pub misfire_limit: u32,
    /// The greatest age of a missed instant that [`MisfirePolicy::FireWithin`] runs, in ms.
    pub misfire_window_ms: i64,
    /// How many fires are left before the schedule is exhausted; `None`: no limit.
    pub fires_left: Option<u32>,
}

impl<'a> PlanInput<'a> {
    /// A schedule with every default.
    pub fn new(schedule: &'a Schedule) -> Self {
        Self {
            schedule,
            catch_up: CatchUp::default(),
            misfire: MisfirePolicy::default(),
            misfire_threshold_ms: misfire::DEFAULT_THRESHOLD_SECONDS * 1_000,
            misfire_limit: misfire::DEFAULT_LIMIT.unsigned_abs(),
            misfire_window_ms: misfire::DEFAULT_WINDOW_SECONDS * 1_000,
            fires_left: None,
        }
    }
}
