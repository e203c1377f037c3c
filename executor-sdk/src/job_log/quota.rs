//! The space that all logs together may take. Near the limit the oldest are deleted; at the limit nothing more is written, so
//! that logs never fill the disk.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

pub(super) struct Quota {
    /// Bytes.
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

    /// Counts bytes that are to be written; false: they have no place.
    pub(super) fn take(&self, bytes: u64) -> bool {
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
