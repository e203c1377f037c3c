//! What is on record: the audit of all instants, and the story of one.

pub mod audit;
pub mod explain;
