//! Apps and their executors.

pub mod delete;
pub mod executor;
pub mod list;
pub mod new;
pub mod page;
pub mod secrets;
pub mod tokens;
