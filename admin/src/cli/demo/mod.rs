//! `carillon demo`

mod jobs;
mod node;
mod orders;
mod workers;

pub use node::run;
