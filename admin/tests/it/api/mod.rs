//! The management API over HTTP on loopback, as a client sees it.

mod apps;
mod audit;
mod backfills;
mod batch;
mod bulk;
mod calendars;
mod client;
mod databases;
mod document;
mod executors;
mod explain;
mod jobs;
mod lists;
mod pauses;
mod preview;
mod protocol;
mod refused;
mod reports;
mod retention;
mod runs;
