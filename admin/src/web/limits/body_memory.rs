//! A limit on the bytes of request bodies that this node holds in memory at once. A body beyond it is refused, so that many
//! large requests at the same time, each allowed by itself, cannot exhaust the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use actix_web::{HttpMessage as _, HttpRequest};
use prometheus::IntGauge;

/// Senders without a credential may hold, all together, the whole memory divided by this number.
const STRANGERS: usize = 4;

/// The count of all requests. A byte of a body costs two to three bytes of memory while the body is read and parsed.
pub struct BodyMemory {
    most: usize,
    held: AtomicUsize,
    /// Of that, by senders who have shown no credential.
    held_by_strangers: AtomicUsize,
    shown: IntGauge,
}

impl BodyMemory {
    pub fn new(most: usize, shown: IntGauge) -> Arc<Self> {
        Arc::new(Self { most, held: AtomicUsize::new(0), held_by_strangers: AtomicUsize::new(0), shown })
    }

    /// The share of one request, of which the sender is not known yet. It is given back when the value is dropped.
    pub fn share(self: &Arc<Self>) -> Arc<Share> {
        Arc::new(Share { memory: self.clone(), bytes: AtomicUsize::new(0), is_known: AtomicBool::new(false) })
    }
}

/// What one request holds.
pub struct Share {
    memory: Arc<BodyMemory>,
    bytes: AtomicUsize,
    /// The sender has shown a credential.
    is_known: AtomicBool,
}

impl Share {
    /// Counts further bytes. False: they do not fit, and the body must be refused.
    pub fn take(&self, bytes: usize) -> bool {
        let memory = &self.memory;
        let is_known = self.is_known.load(Ordering::Relaxed);
        if !is_known && !add(&memory.held_by_strangers, bytes, memory.most / STRANGERS) {
            return false;
        }
        let taken = add(&memory.held, bytes, memory.most);
        if taken {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            memory.shown.add(bytes as i64);
        } else if !is_known {
            memory.held_by_strangers.fetch_sub(bytes, Ordering::Relaxed);
        }
        taken
    }

    /// The sender has shown a credential. Called by the task of the request, which reads the body too.
    fn set_known(&self) {
        if !self.is_known.swap(true, Ordering::Relaxed) {
            self.memory.held_by_strangers.fetch_sub(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

fn add(held: &AtomicUsize, bytes: usize, most: usize) -> bool {
    let fits = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= most);
    held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set_known();
        let bytes = *self.bytes.get_mut();
        self.memory.held.fetch_sub(bytes, Ordering::Relaxed);
        self.memory.shown.sub(bytes as i64);
    }
}

/// The sender of the request has shown a credential: its body counts no longer as that of a stranger.
pub fn set_known(request: &HttpRequest) {
    if let Some(share) = request.extensions().get::<Arc<Share>>() {
        share.set_known();
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
        first.set_known();
        second.set_known();
        assert!(first.take(4) && first.take(2) && second.take(4) && !second.take(1));
        assert_eq!(shown.get(), 10);
        drop(first);
        assert_eq!(shown.get(), 4);
        assert!(second.take(6));
        drop(second);
        assert_eq!((shown.get(), memory.held.load(Ordering::Relaxed)), (0, 0));
    }

    // covers: V1
    #[test]
    fn strangers_have_a_part_of_their_own() {
        let shown = IntGauge::new("shown", "for a test").unwrap();
        let memory = BodyMemory::new(100, shown.clone());
        let (stranger, known) = (memory.share(), memory.share());
        assert!(stranger.take(20) && stranger.take(5) && !stranger.take(1), "a quarter");
        known.set_known();
        assert!(known.take(75) && !known.take(1));
        assert!(!memory.share().take(1));
        stranger.set_known();
        drop(known);
        assert!(stranger.take(75), "its sender is known by now");
        drop(stranger);
        assert!(memory.share().take(25));
        assert_eq!((shown.get(), memory.held_by_strangers.load(Ordering::Relaxed)), (0, 0));
    }
}
