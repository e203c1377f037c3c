//! What is on record: the audit of all instants, and the story of one; whether a node is ready.

pub mod audit;
pub mod explain;
pub mod health;
