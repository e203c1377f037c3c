//! The logs of runs: `<data>/logs/<yyyy-MM-dd>/<run>.log`, the day in UTC and by the run's due time.
//!
//! Paths are made of integers only, and a file is opened only if it really lies below the folder, whatever links are
//! there.

mod prune;
mod read;
mod write;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carillon_protocol::RunRequest;
use chrono::{DateTime, Datelike};

pub(crate) use write::RunLog;

/// The folder of logs.
#[derive(Clone)]
pub(crate) struct JobLogs {
    root: Arc<PathBuf>,
}

impl JobLogs {
    /// Makes the folder if it is not there.
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let root = Arc::new(root.canonicalize()?);
        Ok(Self { root })
    }

    /// The log of a run; its file is made when something is written.
    pub(crate) fn open(&self, request: &RunRequest) -> RunLog {
        RunLog::new(self.clone(), request)
    }

    /// `None` for an instant outside the years 1970 to 9999 or an id that is no run's.
    fn path(&self, due_at: i64, log_id: i64) -> Option<PathBuf> {
        let day = DateTime::from_timestamp_millis(due_at)?;
        if !(1970..=9999).contains(&day.year()) || log_id <= 0 {
            return None;
        }
        let day = self.root.join(day.format("%Y-%m-%d").to_string());
        Some(day.join(format!("{log_id}.log")))
    }

    /// Whether this file or folder, links followed, lies below the folder of logs.
    fn holds(&self, path: &Path) -> io::Result<bool> {
        Ok(path.canonicalize()?.starts_with(&*self.root))
    }
}
