//! The management API over HTTP on loopback, as a client sees it.

mod apps;
mod audit;
mod backfills;
mod calendars;
pub mod client;
mod databases;
mod document;
mod executors;
mod explain;
pub mod jobs;
mod lists;
mod many;
mod pauses;
mod preview;
mod protocol;
mod refused;
mod reports;
mod retention;
mod runs;
