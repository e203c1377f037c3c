//! Places of which one requester gets only some.

use std::hash::Hash;
use std::sync::Arc;

use foldhash::HashMap;
use parking_lot::Mutex;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

pub struct Shares<K> {
    /// Places of one requester.
    each: usize,
    of_one: Mutex<HashMap<K, Arc<Semaphore>>>,
}

impl<K: Eq + Hash> Shares<K> {
    pub fn new(each: usize) -> Self {
        Self { each, of_one: Mutex::default() }
    }

    /// Waits for a place of the requester.
    pub async fn enter(&self, requester: K) -> Result<OwnedSemaphorePermit, AcquireError> {
        let own = {
            let mut all = self.of_one.lock();
            // Each permit, and each request that waits for one, holds its requester's places.
            all.retain(|_, places| Arc::strong_count(places) > 1);
            all.entry(requester).or_insert_with(|| Arc::new(Semaphore::new(self.each))).clone()
        };
        own.acquire_owned().await
    }
}
