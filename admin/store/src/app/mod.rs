//! Apps and their executors; limits of apps, and shared ones.

pub(crate) mod apps;
pub mod declared;
pub mod delete_app;
pub(crate) mod executor_settings;
pub mod executor_tokens;
pub mod executors;
pub mod job_limit;
pub mod limits;
pub mod maintenance_windows;
pub(crate) mod manual_executors;
pub mod pauses;
pub mod rename;
pub mod secrets;
pub mod starters;
