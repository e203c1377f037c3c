//! What a node has to tell the others about their shards.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// In the place of a shard: slots of limits are free. No shard has this number.
pub const FREE_SLOTS: i32 = -1;

/// Shards to which this node has brought work, and whose holders it has not told yet.
#[derive(Default)]
pub struct PendingHints {
    shards: Mutex<BTreeSet<i32>>,
    wake: Arc<Notify>,
}

impl PendingHints {
    pub fn add(&self, shard: i32) {
        if self.shards.lock().insert(shard) {
            self.wake.notify_one();
        }
    }

    /// What was added since the last call.
    pub fn take(&self) -> BTreeSet<i32> {
        std::mem::take(&mut *self.shards.lock())
    }

    /// Is notified when a shard was added.
    pub fn wake(&self) -> Arc<Notify> {
        self.wake.clone()
    }
}
