//! What a set of files says: its name, its apps, its jobs. Every member is checked by the rules of the server before anything is
//! sent, and all faults are reported at once.

mod entry;
mod fault;
mod job;
mod members;
mod set;
mod workflow;

pub use entry::{AppEntry, JobEntry, JobRef, REDACTED};
pub use fault::Fault;
pub use set::{FileSet, read};
