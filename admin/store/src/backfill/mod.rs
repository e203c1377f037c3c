//! Runs for instants of the past.

pub mod backfills;
pub mod release;
