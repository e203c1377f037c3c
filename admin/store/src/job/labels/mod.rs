//! Description, owner and tags of jobs.

pub(crate) mod job_labels;
pub(crate) mod tags;
