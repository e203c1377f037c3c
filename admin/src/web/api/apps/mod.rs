//! Apps, their executors, and the tokens of those.

pub mod declarations;
pub mod executors;
mod list;
pub mod secrets;
pub mod tokens;

pub use list::{create, delete, former_names, list, remove_former_name, set_starters, starters, update};
