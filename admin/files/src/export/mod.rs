//! From the jobs of a server to files: one for each app, without defaults, with sorted members, so that a difference shows what
//! changed.

mod file;
mod keys;

pub(crate) use file::without_defaults;
pub use file::{ExportOptions, ExportedFile, Problem, export, write_jobs};
pub use keys::new_keys;
