//! `carillon next`

mod ask;
mod command;
mod lines;

pub use command::{NextArgs, run};
