//! A limit on the bytes of request bodies that this node holds in memory at once. A body beyond it is refused, so that many
//! large requests at the same time, each allowed by itself, cannot exhaust the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prometheus::IntGauge;

/// The count of all requests. A byte of a body costs two to three bytes of memory while the body is read and parsed.
pub struct BodyMemory {
    most: usize,
    held: AtomicUsize,
    shown: IntGauge,
}

impl BodyMemory {
    pub fn new(most: usize, shown: IntGauge) -> Arc<Self> {
        Arc::new(Self { most, held: AtomicUsize::new(0), shown })
    }

    /// The share of one request. It is given back when the value is dropped.
    pub fn share(self: &Arc<Self>) -> Arc<Share> {
        Arc::new(Share { memory: self.clone(), bytes: AtomicUsize::new(0) })
    }
}

/// What one request holds.
pub struct Share {
    memory: Arc<BodyMemory>,
    bytes: AtomicUsize,
}

impl Share {
    /// Counts further bytes. False: they do not fit, and the body must be refused.
    pub fn take(&self, bytes: usize) -> bool {
        let fits = |held: usize| Some(held + bytes).filter(|sum| *sum <= self.memory.most);
        let held = &self.memory.held;
        let taken = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if taken {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.memory.shown.add(bytes as i64);
        }
        taken
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        self.memory.held.fetch_sub(bytes, Ordering::Relaxed);
        self.memory.shown.sub(bytes as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_until_others_have_ended() {
        let shown = IntGauge::new("shown", "for a test").unwrap();
        let memory = BodyMemory::new(10, shown.clone());
        let (first, second) = (memory.share(), memory.share());
        assert!(first.take(4) && first.take(2) && second.take(4) && !second.take(1));
        assert_eq!(shown.get(), 10);
        drop(first);
        assert_eq!(shown.get(), 4);
        assert!(second.take(6));
        drop(second);
        assert_eq!((shown.get(), memory.held.load(Ordering::Relaxed)), (0, 0));
    }
}
