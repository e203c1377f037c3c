//! The executor's journal on disk: accepted runs and their results, until an admin has the results.
//!
//! One thread writes. All entries that wait are written and synced together (group commit), so that a thousand runs a
//! second cost a few dozen syncs and no entry waits for more than two. The invariant: a run is answered "accepted" only
//! after its line is durable, and a result is called back only after its line is.

mod data_dir;
mod identity;
mod journal;
mod record;
mod recovery;
mod segments;
mod write_queue;
mod writer;

pub(crate) use data_dir::DataDir;
pub(crate) use journal::Journal;
pub use segments::Durability;
pub(crate) use write_queue::{CompletionSink, Completions};
pub(crate) use writer::JournaledRun;
