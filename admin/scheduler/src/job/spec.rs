use super::block::BlockStrategy;
use crate::plan::{CatchUp, MisfirePolicy};
use crate::retry::RetryDelay;
use crate::route::{Labels, RouteStrategy};
use crate::run::Overlap;
use crate::schedule::Schedule;

/// A validated job. Its app is a reference that the store resolves.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSpec {
    /// The name for users, 1 to 64 characters. Need not be unique.
    pub name: String,
    /// The name of the handler in the executor, 1 to 255 characters.
    pub handler: String,
    /// Passed to the handler unchanged, at most 64 KiB.
    pub params: String,
    /// When it fires.
    pub schedule: Schedule,
    /// The rule for instants that are late by at most the threshold.
    pub catch_up: CatchUp,
    /// The rule for instants that are late by more than the threshold.
    pub misfire: MisfirePolicy,
    /// The threshold in ms, 1 s to 1 day.
    pub misfire_threshold_ms: i64,
    /// How many missed instants [`MisfirePolicy::FireAll`] runs, 1 to 1,000.
    pub misfire_limit: u32,
    /// The greatest age of a missed instant that [`MisfirePolicy::FireWithin`] runs, in ms, 1 s to 1 day.
    pub misfire_window_ms: i64,
    /// How an executor is chosen.
    pub route: RouteStrategy,
    /// The labels that an executor must have to get runs of the job.
    pub route_labels: Labels,
    /// The admin's rule for a run while another fire of the job is open.
    pub overlap: Overlap,
    /// How many runs may wait under [`Overlap::Wait`], 1 to 1,000.
    pub overlap_queue: u32,
    /// The executor's rule for overlapping runs.
    pub block: BlockStrategy,
    /// The executor stops a run after this time, in seconds; 0 = never.
    pub timeout_seconds: i32,
    /// The maximum number of retries of a failed run, 0 to 100.
    pub retries: i32,
    /// The delay before a retry.
    pub retry_delay: RetryDelay,
    /// The jobs that run once after each successful fire, at most 100.
    pub children: Vec<i64>,
    /// A run that has not been sent this time after it was due is flagged, in seconds, up to 86,400; 0 = the server's
    /// default.
    pub flag_after_seconds: i32,
    /// Whether its schedule fires.
    pub enabled: bool,
}
