//! Runs and misfires as people, programs and the audit read them.

pub mod dashboard;
pub mod filter;
mod http_log;
pub mod list;
pub(crate) mod misfires;
pub mod records;
pub(crate) mod run_view;
pub mod starts;
