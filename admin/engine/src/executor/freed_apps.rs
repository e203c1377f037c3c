//! Apps of which an executor has room again, after runs of them found none.

use std::sync::{Arc, Mutex};

use foldhash::HashSet;
use tokio::sync::Notify;

use crate::runtime::lock;

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
        let is_new = lock(&self.apps).insert(app.to_owned());
        if is_new {
            self.wake.notify_one();
        }
    }

    pub fn take(&self) -> HashSet<String> {
        std::mem::take(&mut *lock(&self.apps))
    }
}
