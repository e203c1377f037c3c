//! Apps of which an executor has room again, after runs of them found none.

use std::sync::Arc;

use foldhash::HashSet;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// By name, as the gates of their executors know them.
#[derive(Default)]
pub struct FreedApps {
    apps: Mutex<HashSet<String>>,
    /// Wakes the dispatcher.
    wake: Arc<Notify>,
}

impl FreedApps {
    pub fn new(wake: Arc<Notify>) -> Self {
        Self { apps: Mutex::default(), wake }
    }

    pub fn add(&self, app: &str) {
        let is_new = self.apps.lock().insert(app.to_owned());
        if is_new {
            self.wake.notify_one();
        }
    }

    pub fn take(&self) -> HashSet<String> {
        std::mem::take(&mut *self.apps.lock())
    }
}
