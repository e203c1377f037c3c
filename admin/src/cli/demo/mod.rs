//! `carillon demo`

mod app;
mod jobs;
mod node;
mod orders;
mod page;
mod pictures;
mod workers;

pub use node::run;
