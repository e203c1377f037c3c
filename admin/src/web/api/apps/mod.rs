//! Apps, their executors, and the tokens of those.

pub mod executors;
pub mod list;
pub mod tokens;
