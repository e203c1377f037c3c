//! What became of one instant of one job.

pub mod explanation;
pub(crate) mod neighbours;
pub(crate) mod sentences;
