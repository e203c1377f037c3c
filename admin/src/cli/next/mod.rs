//! `carillon next`

mod command;
mod lines;
mod query;

pub use command::{NextArgs, run};
