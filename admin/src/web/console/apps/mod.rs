//! Apps and their executors.

pub mod declarations;
pub mod delete;
pub mod executor;
pub mod list;
pub mod new;
pub mod page;
pub mod secrets;
pub mod tokens;
