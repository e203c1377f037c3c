//! How long runs are kept, and the deletion of older ones.

pub(crate) mod prune_rest;
pub mod prune_runs;
pub mod remains;
pub mod rules;
