//! Runs and misfires as people, programs and the audit read them.

pub mod dashboard;
pub(crate) mod list;
pub(crate) mod misfires;
pub mod records;
pub(crate) mod run_view;
