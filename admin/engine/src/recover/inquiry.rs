//! Questions that are under way: a run is asked about once at a time, and one address cannot take all the places.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use parking_lot::Mutex;

#[derive(Default)]
struct UnderWay {
    runs: HashSet<i64>,
    by_address: HashMap<String, usize>,
}

#[derive(Clone)]
pub struct Inquiries {
    under_way: Arc<Mutex<UnderWay>>,
    of_one_address: usize,
    in_all: usize,
}

/// A question is under way while this lives; it frees its place also when its task panics.
pub struct InquiryGuard {
    asking: Inquiries,
    run_id: i64,
    address: String,
}

impl Inquiries {
    pub fn new(of_one_address: usize, in_all: usize) -> Self {
        Self { under_way: Arc::default(), of_one_address, in_all }
    }

    /// None: the run is asked about already, or there is no place.
    pub fn try_begin(&self, run_id: i64, address: &str) -> Option<InquiryGuard> {
        let mut all = self.under_way.lock();
        let of_this = all.by_address.get(address).copied().unwrap_or_default();
        if of_this >= self.of_one_address || all.runs.len() >= self.in_all {
            return None;
        }
        if !all.runs.insert(run_id) {
            return None;
        }
        all.by_address.insert(address.to_owned(), of_this + 1);
        Some(InquiryGuard { asking: self.clone(), run_id, address: address.to_owned() })
    }
}

impl Drop for InquiryGuard {
    fn drop(&mut self) {
        let mut all = self.asking.under_way.lock();
        all.runs.remove(&self.run_id);
        match all.by_address.get_mut(&self.address) {
            Some(of_this) if *of_this > 1 => *of_this -= 1,
            _ => {
                all.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::recover::inquiry::Inquiries;

    // covers: F24
    #[tokio::test]
    async fn a_question_that_panics_frees_its_place() {
        let asking = Inquiries::new(64, 64);
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
        let asking = Inquiries::new(2, 3);
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
