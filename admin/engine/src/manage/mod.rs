//! The entry points for people and programs.

pub(crate) mod backfills;
pub(crate) mod runs;
pub(crate) mod trigger;
