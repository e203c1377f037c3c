//! A job's definition: as somebody wrote it ([`JobDraft`]) and as the engine uses it ([`JobSpec`]).

mod draft;
mod validate;

pub use draft::JobDraft;
pub use validate::validate_app_name;

use serde::Serialize;

use crate::block::BlockStrategy;
use crate::misfire::{CatchUp, MisfirePolicy};
use crate::overlap::Overlap;
use crate::retry::RetryDelay;
use crate::route::{Labels, RouteStrategy};
use crate::schedule::Schedule;

/// What is wrong with one member, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{field}: {message}")]
pub struct FieldError {
    /// The member as the API spells it, such as `schedule.expression`.
    pub field: String,
    /// For people.
    pub message: String,
}

impl FieldError {
    /// An error of one member.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

/// A job that cannot be wrong. Its app is a matter of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSpec {
    /// What people call it, 1 to 64 characters. Need not be unique.
    pub name: String,
    /// What the executor calls it, 1 to 255 characters.
    pub handler: String,
    /// Given to the handler as it is, at most 64 KiB.
    pub params: String,
    /// When it fires.
    pub schedule: Schedule,
    /// What is done with instants that are late by at most the threshold.
    pub catch_up: CatchUp,
    /// What is done with older ones.
    pub misfire: MisfirePolicy,
    /// The threshold in ms, 1 s to 1 day.
    pub misfire_threshold_ms: i64,
    /// How many missed instants [`MisfirePolicy::FireAll`] runs, 1 to 1,000.
    pub misfire_limit: u32,
    /// How old a missed instant may be that [`MisfirePolicy::FireWithin`] runs, in ms, 1 s to 1 day.
    pub misfire_window_ms: i64,
    /// Who gets its runs.
    pub route: RouteStrategy,
    /// The labels that an executor must have to get them.
    pub route_labels: Labels,
    /// What the admin does with a run while another fire of the job is open.
    pub overlap: Overlap,
    /// So many runs may wait under [`Overlap::Wait`], 1 to 1,000.
    pub overlap_queue: u32,
    /// What the executor does with overlapping runs.
    pub block: BlockStrategy,
    /// The executor stops a run after so many seconds; 0 = never.
    pub timeout_seconds: i32,
    /// How often a failed run is tried again, 0 to 100.
    pub retries: i32,
    /// How long it waits before that.
    pub retry_delay: RetryDelay,
    /// The jobs that run once after each fire of it that succeeded, at most 100.
    pub children: Vec<i64>,
    /// A run that has not been sent so many seconds after it was due is flagged, up to 86,400; 0 = as the server says.
    pub flag_after_seconds: i32,
    /// Whether its schedule is in force.
    pub enabled: bool,
}
