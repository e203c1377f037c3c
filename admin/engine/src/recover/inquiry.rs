//! Questions that are under way: a run is asked about once at a time, and one address cannot take all the places.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct UnderWay {
    runs: HashSet<i64>,
    by_address: HashMap<String, usize>,
}

#[derive(Clone)]
pub struct Asking {
    under_way: Arc<Mutex<UnderWay>>,
    of_one_address: usize,
    in_all: usize,
}

/// A question is under way while this lives; it frees its place also when its task panics.
pub struct Asked {
    asking: Asking,
    run_id: i64,
    address: String,
}

impl Asking {
    pub fn new(of_one_address: usize, in_all: usize) -> Self {
        Self { under_way: Arc::default(), of_one_address, in_all }
    }

    /// None: the run is asked about already, or there is no place.
    pub fn take(&self, run_id: i64, address: &str) -> Option<Asked> {
        let mut all = self.lock();
        let of_this = all.by_address.get(address).copied().unwrap_or_default();
        if of_this >= self.of_one_address || all.runs.len() >= self.in_all {
            return None;
        }
        if !all.runs.insert(run_id) {
            return None;
        }
        all.by_address.insert(address.to_owned(), of_this + 1);
        Some(Asked { asking: self.clone(), run_id, address: address.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut all = self.asking.lock();
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
    use crate::recover::inquiry::Asking;

    // covers: F24
    #[tokio::test]
    async fn a_question_that_panics_frees_its_place() {
        let asking = Asking::new(64, 64);
        for run_id in 0..64 {
            let asked = asking.take(run_id, "http://a/");
            let task = tokio::spawn(async move {
                let _asked = asked.unwrap();
                panic!("a defect");
            });
            assert!(task.await.is_err());
        }
        assert!(asking.take(64, "http://a/").is_some());
    }

    #[test]
    fn one_address_leaves_places_for_the_others() {
        let asking = Asking::new(2, 3);
        let first = asking.take(1, "a");
        assert!(first.is_some());
        assert!(asking.take(1, "a").is_none(), "asked about already");
        let _second = asking.take(2, "a");
        assert!(asking.take(3, "a").is_none(), "no place for this address");
        let _other = asking.take(3, "b");
        assert!(asking.take(4, "c").is_none(), "no place at all");
        drop(first);
        assert!(asking.take(4, "a").is_some());
    }
}
