//! The console: server-rendered pages for people, one file a page. Every page works without script; the script only keeps
//! fresh what is shown. Its paths are in `routes.rs`, and every request passes `guard/session_guard.rs`.

pub mod account;
pub mod alerts;
pub mod apps;
pub mod audit;
pub mod badge;
mod bulk;
pub mod calendars;
pub mod dashboard;
mod filters;
pub mod forecast;
pub mod jobs;
pub mod operations;
pub mod pauses;
pub mod reports;
pub mod routes;
pub mod runs;
pub mod search;
pub mod users;
pub mod workflows;
