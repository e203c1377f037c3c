//! Questions that are under way: a run is asked about once at a time, and one address cannot take all the places.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

#[derive(Default)]
struct UnderWay {
    runs: HashSet<i64>,
    by_address: HashMap<String, usize>,
}

/// At most `PER_ADDRESS` questions to one address at once, and `IN_ALL` to all together.
#[derive(Default)]
pub struct Inquiries<const PER_ADDRESS: usize, const IN_ALL: usize>(Arc<Mutex<UnderWay>>);

/// A question is under way while this lives; it frees its place also when its task panics.
pub struct InquiryGuard {
    under_way: Arc<Mutex<UnderWay>>,
    run_id: i64,
    address: String,
}

impl<const PER_ADDRESS: usize, const IN_ALL: usize> Inquiries<PER_ADDRESS, IN_ALL> {
    /// None: the run is asked about already, or there is no place.
    pub fn try_begin(&self, run_id: i64, address: &str) -> Option<InquiryGuard> {
        let mut all = self.0.lock();
        let of_this = all.by_address.get(address).copied().unwrap_or_default();
        if of_this >= PER_ADDRESS || all.runs.len() >= IN_ALL || !all.runs.insert(run_id) {
            return None;
        }
        all.by_address.insert(address.to_owned(), of_this + 1);
        Some(InquiryGuard { under_way: self.0.clone(), run_id, address: address.to_owned() })
    }

    /// Asks in a task of its own; false: the run is asked about already, or there is no place.
    pub fn spawn(
        &self,
        tasks: &TaskTracker,
        (run_id, address): (i64, &str),
        question: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        let Some(guard) = self.try_begin(run_id, address) else {
            return false;
        };
        tasks.spawn(async move {
            let _guard = guard;
            question.await;
        });
        true
    }
}

impl Drop for InquiryGuard {
    fn drop(&mut self) {
        let mut all = self.under_way.lock();
        all.runs.remove(&self.run_id);
        match all.by_address.get_mut(&self.address) {
            Some(of_this) if *of_this > 1 => *of_this -= 1,
            _ => drop(all.by_address.remove(&self.address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::recover::inquiry::Inquiries;

    // covers: F24
    #[tokio::test]
    async fn a_question_that_panics_frees_its_place() {
        let asking = Inquiries::<64, 64>::default();
        for run_id in 0..64 {
            let asked = asking.try_begin(run_id, "http://a/");
            let task = tokio::spawn(async move {
                let _asked = asked.unwrap();
                panic!("a defect");
            });
            assert!(task.await.is_err());
        }
        assert!(asking.try_begin(64, "http://a/").is_some());
    }

    #[test]
    fn one_address_leaves_places_for_the_others() {
        let asking = Inquiries::<2, 3>::default();
        let first = asking.try_begin(1, "a");
        assert!(first.is_some());
        assert!(asking.try_begin(1, "a").is_none(), "asked about already");
        let _second = asking.try_begin(2, "a");
        assert!(asking.try_begin(3, "a").is_none(), "no place for this address");
        let _other = asking.try_begin(3, "b");
        assert!(asking.try_begin(4, "c").is_none(), "no place at all");
        drop(first);
        assert!(asking.try_begin(4, "a").is_some());
    }
}
