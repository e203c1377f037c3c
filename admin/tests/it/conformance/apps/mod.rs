//! Apps, their executors, and their pauses.

mod app;
mod executors;
mod maintenance_windows;
mod names;
mod pauses;
