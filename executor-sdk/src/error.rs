//! Why an executor cannot be built or run.

use std::io;
use std::path::PathBuf;

/// Why an executor cannot be built or run. The text of a setting's error names the setting and the valid values.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting of the builder is missing or wrong.
    #[error("{name}: {problem}")]
    Setting {
        /// The builder's method.
        name: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The address to listen on is taken, or does not belong to this machine.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// As it was set.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Another executor uses the same data folder.
    #[error("{} is in use by another executor: give each its own data_dir", .0.display())]
    DataInUse(PathBuf),
    /// The data folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Data {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The HTTP server ended on its own.
    #[error("the executor's HTTP server failed: {0}")]
    Server(#[source] io::Error),
    /// The thread of the executor cannot start, or has panicked.
    #[error("the executor's thread failed: {0}")]
    Thread(#[source] io::Error),
}

impl Error {
    pub(crate) fn setting(name: &'static str, problem: impl Into<String>) -> Self {
        Self::Setting { name, problem: problem.into() }
    }

    pub(crate) fn data(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Data { path: path.into(), source }
    }
}
