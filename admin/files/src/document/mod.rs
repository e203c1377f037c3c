//! What a set of files says: its name, its apps, its limits, its jobs. Every member is checked by the rules of the server before anything is
//! sent, and all faults are reported at once.

mod entry;
mod fault;
mod job;
mod limit;
mod members;
mod set;
mod workflow;

pub use entry::{AppEntry, JobEntry, JobRef, REDACTED};
pub use fault::Fault;
pub(crate) use limit::without_defaults as limit_without_defaults;
pub use limit::{LimitEntry, LimitRef};
pub use set::{FileSet, read};
