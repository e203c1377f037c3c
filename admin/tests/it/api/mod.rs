//! The management API over HTTP on loopback, as a client sees it.

mod apps;
mod audit;
mod backfills;
mod bad_input;
mod batch;
mod calendars;
mod client;
mod databases;
mod document;
mod executors;
mod explain;
mod jobs;
mod limits;
mod lists;
mod pauses;
mod preview;
mod protocol;
mod refusals;
mod retention;
mod runs;
