//! Pages of jobs, and what can be done to a job.

pub mod backfill;
pub mod bulk;
pub mod delete;
pub mod edit;
pub mod explain;
pub mod form_page;
pub mod history;
pub mod list;
pub mod names;
pub mod page;
pub mod pause;
pub mod preview;
mod query;
pub mod recent_runs;
pub mod restore;
pub mod run_now;
pub mod script;
mod script_diff;
