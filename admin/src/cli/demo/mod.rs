//! `carillon demo`

mod app;
mod jobs;
mod node;
mod orders;
mod workers;

pub use node::run;
