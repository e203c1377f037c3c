//! What was done and refused, for administrators.

pub mod change;
pub mod export;
pub mod list;
pub mod members;
pub mod query;
pub mod row;
