//! Jobs as files: `carillon export`, `apply`, `drift` and `schema`.
//!
//! Invariant: these commands are clients of the HTTP API; what the token may not do, they cannot do. Exit code 0: done, or nothing
//! to do; 2: a dry run or a comparison found changes; 1: anything else.

mod apply;
mod client;
mod declared;
mod drift;
mod export;
mod preview;
mod report;
mod schema;
mod server;
mod source;
mod write;

pub use apply::{ApplyArgs, run as apply};
pub use drift::{DriftArgs, run as drift};
pub use export::{ExportArgs, run as export};
pub use schema::run as schema;
