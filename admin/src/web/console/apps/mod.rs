//! Apps and their executors.

pub mod executor;
pub mod list;
pub mod new;
pub mod page;
pub mod tokens;
