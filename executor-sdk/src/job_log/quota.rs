//! The space that all logs together may take. Near the limit the oldest are deleted; at the limit nothing more is written, so
//! that logs never fill the disk.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// A file takes whole blocks, and one for its inode and its name: many small logs fill a disk, or use up its inodes, long before
/// their lengths add up to its size.
const BLOCK: u64 = 4096;

/// What a file of this length counts.
pub(super) fn on_disk(length: u64) -> u64 {
    BLOCK + length.next_multiple_of(BLOCK)
}

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
