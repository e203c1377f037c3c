//! What was brought here from another scheduler.

pub mod origins;
pub mod reports;
