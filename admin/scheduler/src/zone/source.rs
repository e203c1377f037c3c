//! Where zone data comes from, and why it cannot be used.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Where zone data comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZoneSource {
    /// The program itself.
    CompiledIn,
    /// A folder such as `/usr/share/zoneinfo`.
    Folder(PathBuf),
}

/// `compiled in`, or the folder.
impl fmt::Display for ZoneSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CompiledIn => f.write_str("compiled in"),
            Self::Folder(folder) => folder.display().fmt(f),
        }
    }
}

/// Why a folder cannot be used as zone data.
#[derive(Debug, thiserror::Error)]
pub enum ZoneDataError {
    /// The folder, or a file of it, cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// The folder or the file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It holds no file of a time zone.
    #[error("{} holds no time zones; write a folder of compiled zones such as /usr/share/zoneinfo", .0.display())]
    Empty(PathBuf),
    /// A file of a time zone is damaged.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Zones have been used already, with other data.
    #[error("zone data cannot be replaced while the process runs")]
    InUse,
}
