//! The HTTP calls of xxl-job's console, as scripts send them, against a node with `--xxl-console-api`.

mod access;
mod client;
mod groups;
mod jobs;
mod logs;
mod open_api;
mod recorded;
mod sessions;
