//! Key, description, owner and tags of jobs.

pub(crate) mod job_labels;
mod keys;
pub(crate) mod tags;
