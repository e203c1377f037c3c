//! What executors have written down about items.

use std::collections::{HashMap, HashSet};

use crate::check::{Figure, Findings};
use crate::clock::Millis;
use crate::record::{Event, History, What};

pub struct Evidence<'a> {
    /// By root and item, in the order of their times.
    starts: HashMap<(i64, i64), Vec<&'a Event>>,
    /// Delivery runs and items that succeeded there.
    successes: HashSet<(i64, i64)>,
    /// When an admin took a success first.
    acked: HashMap<(i64, i64), Millis>,
    /// When the handler of a run succeeded first.
    ends: HashMap<i64, Millis>,
    /// When the last item of a delivery ended.
    last_ends: HashMap<i64, Millis>,
    /// When an admin took the result of a run first.
    results: HashMap<i64, Millis>,
    /// Items that a run has read, and those of them that have failed.
    reduced: HashMap<i64, Vec<(i64, i64)>>,
}

impl<'a> Evidence<'a> {
    pub fn new(history: &'a History) -> Self {
        let mut all = Self {
            starts: HashMap::new(),
            successes: HashSet::new(),
            acked: HashMap::new(),
            ends: HashMap::new(),
            last_ends: HashMap::new(),
            results: HashMap::new(),
            reduced: HashMap::new(),
        };
        history.events.iter().for_each(|event| all.add(event));
        all
    }

    fn add(&mut self, event: &'a Event) {
        let of_run = (event.run, event.item);
        if event.what == What::ItemEnd {
            let last = self.last_ends.entry(event.run).or_insert(event.at);
            *last = event.at.max(*last);
        }
        match (event.what, event.code) {
            (What::ItemStart, _) => self.starts.entry((event.root, event.item)).or_default().push(event),
            (What::ItemEnd, 200) => {
                self.successes.insert(of_run);
            }
            (What::ItemAcked, 200) => {
                self.acked.entry(of_run).or_insert(event.at);
            }
            (What::End, 200) => {
                self.ends.entry(event.run).or_insert(event.at);
            }
            (What::Acked, _) => {
                self.results.entry(event.run).or_insert(event.at);
            }
            (What::Reduced, _) => {
                let failed = event.state.parse().unwrap_or(-1);
                self.reduced.entry(event.run).or_default().push((event.item, failed));
            }
            _ => {}
        }
    }

    pub fn starts(&self, root: i64, item: i64) -> &[&'a Event] {
        self.starts.get(&(root, item)).map_or(&[], Vec::as_slice)
    }

    pub fn has_success(&self, run: i64, item: i64) -> bool {
        self.successes.contains(&(run, item))
    }

    pub fn success_acked_at(&self, run: i64, item: i64) -> Option<Millis> {
        self.acked.get(&(run, item)).copied()
    }

    pub fn succeeded_at(&self, run: i64) -> Option<Millis> {
        self.ends.get(&run).copied()
    }

    pub fn last_end_of(&self, run: i64) -> Option<Millis> {
        self.last_ends.get(&run).copied()
    }

    pub fn result_acked_at(&self, run: i64) -> Option<Millis> {
        self.results.get(&run).copied()
    }

    pub fn reduced(&self, run: i64) -> &[(i64, i64)] {
        self.reduced.get(&run).map_or(&[], Vec::as_slice)
    }

    /// Items that were executed and that no table knows.
    pub fn phantoms(&self, history: &History, findings: &mut Findings) {
        let known: HashSet<(i64, i64)> = history.items.iter().map(|row| (row.run_id, row.item)).collect();
        for ((root, item), starts) in &self.starts {
            if !known.contains(&(*root, *item)) {
                findings.add(Figure::Phantom, || format!("no item {item} of {root}: {:?}", starts[0]));
            }
        }
    }
}
