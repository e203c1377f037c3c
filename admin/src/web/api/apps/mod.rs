//! Apps, their executors and the tokens of those, secrets, and limits of runs at work.

pub mod declarations;
pub mod executors;
pub mod limits;
mod list;
pub mod secrets;
pub mod tokens;

pub use list::{create, delete, former_names, list, remove_former_name, set_starters, starters, update};
