//! Jobs: their definitions, their changes, their calendars' pins and what the lists show.

pub(crate) mod audit_snapshot;
pub mod change;
pub(crate) mod change_runs;
pub(crate) mod children;
pub(crate) mod create;
pub mod deleted;
pub mod filter;
pub mod history;
pub(crate) mod in_force;
pub mod job_row;
pub mod labels;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod next_fires;
pub mod pause;
pub mod revisions;
pub(crate) mod stored_job;
pub(crate) mod transitions;
pub(crate) mod unplannable;
