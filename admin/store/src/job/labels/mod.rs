//! Key, description, owner, tags, scripts and parts of jobs.

pub(crate) mod job_labels;
mod keys;
mod parts;
pub(crate) mod script_reference;
pub mod scripts;
pub(crate) mod tags;
