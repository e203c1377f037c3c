//! Which executor gets a run.

pub(crate) mod candidate_set;
pub(crate) mod memory;
pub(crate) mod open_counts;
pub(crate) mod router;
pub(crate) mod saturated_apps;
