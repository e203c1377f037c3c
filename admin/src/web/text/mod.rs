//! What pages call things, in the words of the field.

pub mod browser;
pub mod format;
pub mod names;
pub mod schedule;
pub mod strategies;
pub mod weekly;
