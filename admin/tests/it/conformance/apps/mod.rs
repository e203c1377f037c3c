//! Apps, their executors, and their pauses.

mod app;
mod executors;
mod pauses;
