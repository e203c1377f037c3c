//! What pages call things, in the words of the field.

pub mod browser;
pub mod cause;
pub mod day;
pub mod format;
pub mod misfire;
pub mod role;
pub mod schedule;
pub mod strategies;
pub mod weekly;
