//! The policies for late instants.
//!
//! [`CatchUp`] applies to an instant that is late by at most the job's misfire threshold; a later one is a *misfire*. The
//! default threshold is 60 s: more than the fail-over time of a shard, so that the death of a node does not skip instants
//! (xxl-job has 5 s).

use crate::words::{first_is_default, words};

words! {
    /// The rule for instants that are late by at most the misfire threshold.
    pub enum CatchUp: "catch-up" {
        /// Every late instant runs.
        All = 0 "all",
        /// Only the last late instant runs; the others are recorded as coalesced.
        Latest = 1 "latest",
    }
}

words! {
    /// The rule for instants that are late by more than the misfire threshold.
    pub enum MisfirePolicy: "misfire policy" {
        /// One fire stands for all of them: a later instant that is due anyway, else the latest missed one.
        FireOnce = 0 "fire_once",
        /// None of them runs.
        Skip = 1 "skip",
        /// The latest `misfire_limit` of them run, the others do not.
        FireAll = 2 "fire_all",
        /// Those within the window run, older ones do not.
        FireWithin = 3 "fire_within",
    }
}

first_is_default!(CatchUp, MisfirePolicy);

/// The default misfire threshold, in seconds.
pub const DEFAULT_THRESHOLD_SECONDS: i64 = 60;

/// The default number of missed instants that run under [`MisfirePolicy::FireAll`].
pub const DEFAULT_LIMIT: i32 = 100;

/// The default age up to which a missed instant runs under [`MisfirePolicy::FireWithin`], in seconds.
pub const DEFAULT_WINDOW_SECONDS: i64 = 3_600;
