//! What pages and lists read.

mod alert_list;
mod audit_list;
mod job_list;
mod list_plans;
mod misfire_list;
mod next_fires;
mod overview;
mod run_list;
