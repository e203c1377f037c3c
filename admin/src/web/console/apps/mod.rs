//! Apps, their executors, and limits of runs at work.

pub mod declarations;
pub mod delete;
pub mod executor;
pub mod limits;
pub mod list;
pub mod new;
pub mod page;
pub mod secrets;
pub mod tokens;
