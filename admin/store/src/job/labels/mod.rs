//! Key, description, owner, tags, scripts, parts and limits of jobs.

pub(crate) mod job_labels;
mod keys;
pub(crate) mod label_columns;
pub mod limit_names;
mod parts;
pub(crate) mod script_reference;
pub mod scripts;
pub(crate) mod tags;
