//! What is done with instants that are reached late.
//!
//! An instant that is late by at most the job's misfire threshold is a matter of [`CatchUp`]; an older one is a
//! *misfire*. The threshold is 60 s unless the job says otherwise: it lies above the fail-over time of a shard,
//! so that the death of a node does not turn into skipped instants (xxl-job has 5 s).

use crate::words::{first_is_default, words};

words! {
    /// What is done with instants that are late by at most the misfire threshold.
    pub enum CatchUp: "catch-up" {
        /// Every late instant runs.
        All = 0 "all",
        /// Only the last late instant runs; the others are recorded as coalesced.
        Latest = 1 "latest",
    }
}

words! {
    /// What is done with instants that are late by more than the misfire threshold.
    pub enum MisfirePolicy: "misfire policy" {
        /// One fire makes up for all of them: a later instant that is due anyway, else the latest missed one.
        FireOnce = 0 "fire_once",
        /// None of them runs.
        Skip = 1 "skip",
        /// The latest so many of them run, the others do not.
        FireAll = 2 "fire_all",
        /// Those run that are not older than the window, the others do not.
        FireWithin = 3 "fire_within",
    }
}

first_is_default!(CatchUp, MisfirePolicy);

/// The misfire threshold of a job that names none, in seconds.
pub const DEFAULT_THRESHOLD_SECONDS: i64 = 60;

/// How many missed instants run under [`MisfirePolicy::FireAll`] if the job names no number.
pub const DEFAULT_LIMIT: i32 = 100;

/// How old a missed instant may be to run under [`MisfirePolicy::FireWithin`] if the job does not say, in seconds.
pub const DEFAULT_WINDOW_SECONDS: i64 = 3_600;
