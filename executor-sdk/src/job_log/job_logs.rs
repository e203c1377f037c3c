//! The folder of logs and the paths in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Datelike};

use super::quota::Quota;
use crate::error::Error;

/// The folder of logs.
#[derive(Clone)]
pub(crate) struct JobLogs {
    pub(super) root: Arc<PathBuf>,
    pub(super) quota: Arc<Quota>,
}

impl JobLogs {
    /// Creates the folder if it does not exist. All logs together take `most_bytes`; 0: no limit.
    pub(crate) fn new(root: &Path, most_bytes: u64) -> Result<Self, Error> {
        let canonical = fs::create_dir_all(root).and_then(|()| root.canonicalize());
        let root = Arc::new(canonical.map_err(|source| Error::data(root, source))?);
        Ok(Self { root, quota: Arc::new(Quota::new(most_bytes)) })
    }

    /// The file of a run; `None` for a due time outside the years 1970 to 9999 or an id below 1.
    pub(super) fn path(&self, due_at: i64, log_id: i64) -> Option<PathBuf> {
        let day = DateTime::from_timestamp_millis(due_at)?;
        if !(1970..=9999).contains(&day.year()) || log_id <= 0 {
            return None;
        }
        let day = self.root.join(day.format("%Y-%m-%d").to_string());
        Some(day.join(format!("{log_id}.log")))
    }

    /// Whether the canonical path of this file or folder lies below the folder of logs.
    pub(super) fn contains(&self, path: &Path) -> io::Result<bool> {
        Ok(path.canonicalize()?.starts_with(&*self.root))
    }
}
