//! Runs for instants of the past.

pub mod backfills;
pub(crate) mod release;
