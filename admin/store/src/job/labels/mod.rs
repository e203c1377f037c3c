//! Key, description, owner and tags of jobs.

pub(crate) mod job_labels;
mod keys;
pub(crate) mod script_reference;
pub mod scripts;
pub(crate) mod tags;
