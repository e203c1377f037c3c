//! Runs that wait and that no service works on: no code leaves such a row, and without an alarm a defect would stay unseen.

use foldhash::HashMap;
use parking_lot::Mutex;

/// The first overdue run of each shard in the round before, and whether an alarm has named it.
#[derive(Default)]
pub struct StuckRuns(Mutex<HashMap<i32, (i64, bool)>>);

impl StuckRuns {
    /// True: it was there in the round before, and no alarm has named it.
    pub fn is_news(&self, shard: i32, first: Option<i64>) -> bool {
        let mut seen = self.0.lock();
        let Some(first) = first else {
            seen.remove(&shard);
            return false;
        };
        match seen.get_mut(&shard) {
            Some((before, alarmed)) if *before == first => !std::mem::replace(alarmed, true),
            _ => {
                seen.insert(shard, (first, false));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::recover::stuck::StuckRuns;

    #[test]
    fn what_stays_is_alarmed_once() {
        let seen = StuckRuns::default();
        let alarmed: Vec<bool> = [Some(5), Some(5), Some(5), None, Some(7), Some(8), Some(8)]
            .into_iter()
            .map(|first| seen.is_news(1, first))
            .collect();
        assert_eq!(alarmed, [false, true, false, false, false, false, true]);
        assert!(!seen.is_news(2, Some(8)), "each shard by itself");
    }
}
