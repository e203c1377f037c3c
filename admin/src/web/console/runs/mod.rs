//! Pages of runs, and what can be done to a run.

mod audit_trail;
pub mod bulk;
mod items;
pub mod kill;
pub mod list;
pub mod log;
pub mod log_file;
pub mod log_line;
pub mod page;
mod query;
pub mod resolve;
pub mod route;
pub mod row;
pub mod scheduled;
pub mod timeline;
