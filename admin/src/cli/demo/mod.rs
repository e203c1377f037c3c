//! `carillon demo`

mod jobs;
mod node;
mod workers;

pub use node::run;
