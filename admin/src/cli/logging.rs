//! Log lines go to standard error; standard output belongs to what a person or a script asked for.

use std::io::{self, IsTerminal as _};

use crate::config::LogFormat;
use tracing_subscriber::EnvFilter;

/// What a library says at each start and stop is of interest to its developers.
const QUIET: &str = "actix_server=warn,sea_orm_migration=warn";

/// Starts logging, at the level that `RUST_LOG` names, or else at `level`.
pub fn start(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(format!("{level},{QUIET}")));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        // Otherwise a line that cannot be written, as on a full disk, is reported on standard error by a call that panics, and the
        // service that wanted to log ends.
        .log_internal_errors(false);
    match format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
}
