//! The folder of logs and the paths in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Datelike};
use tokio::sync::Notify;

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

/// A file takes whole blocks, and one for its inode and its name: many small logs fill a disk, or use up its inodes, long before
/// their lengths add up to its size.
const BLOCK: u64 = 4096;

/// What a file of this length counts.
pub(super) fn on_disk(length: u64) -> u64 {
    BLOCK + length.next_multiple_of(BLOCK)
}

/// The space that all logs together may take. Near the limit the oldest are deleted; at the limit nothing more is written, so
/// that logs never fill the disk.
pub(super) struct Quota {
    /// Bytes on the disk.
    pub(super) most: u64,
    pub(super) used: AtomicU64,
    /// There is little left: something must be deleted.
    pub(super) nearly_full: Notify,
}

impl Quota {
    /// 0: no limit.
    pub(super) fn new(most: u64) -> Self {
        Self { most: if most == 0 { u64::MAX } else { most }, used: AtomicU64::new(0), nearly_full: Notify::new() }
    }

    /// Counts what a file of this length takes more when these bytes are appended; false: they have no place.
    pub(super) fn take(&self, length: u64, bytes: u64) -> bool {
        let before = if length == 0 { 0 } else { on_disk(length) };
        let bytes = on_disk(length + bytes) - before;
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used > self.most / 10 * 9 {
            self.nearly_full.notify_one();
        }
        let fits = used <= self.most;
        if !fits {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }
}
