//! What will fire.

pub(crate) mod all_jobs;
pub(crate) mod busiest;
pub(crate) mod fire_walk;
pub(crate) mod load;
