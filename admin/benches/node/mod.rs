//! What a measurement needs: an empty database, the real binary, and jobs.

mod database;
mod program;

pub use database::{BenchDatabase, DatabaseChoice};
pub use program::{create_jobs, print_scans, settings, start};
