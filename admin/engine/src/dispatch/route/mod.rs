//! Which executor gets a run.

pub(crate) mod candidate_set;
pub(crate) mod decision;
pub(crate) mod memory;
pub(crate) mod notes;
pub(crate) mod open_counts;
pub(crate) mod refresher;
pub(crate) mod router;
