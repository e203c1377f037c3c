//! Apps, their executors, and their pauses.

mod app;
mod declared;
mod executors;
mod maintenance_windows;
mod names;
mod pauses;
