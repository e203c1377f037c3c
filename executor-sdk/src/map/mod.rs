//! Jobs that divide their work into items: a run hands in its items, deliveries of them are further runs of the job, and a last run may
//! read the results.
//!
//! `handler` tells the three kinds of runs apart. All requests go through `client`, which repeats them. An item has its result before
//! its delivery has one: `report` sends the results of items, and `delivery` ends after it.

mod client;
mod context;
mod delivery;
mod handler;
mod job;
mod pages;
mod report;
mod results;

pub use context::{ItemContext, MapContext, ReduceContext};
pub use job::{MapJob, MapReduceJob};
pub use results::{ItemOutcome, ItemOutcomes};

pub(crate) use client::ItemClient;
pub(crate) use handler::RegisteredMapJob;
