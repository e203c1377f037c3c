//! I4: what was acknowledged is there, and what a living executor knew was taken.

use std::collections::{HashMap, HashSet};

use super::index::Index;
use super::{Figure, Findings};
use crate::record::{History, State, What, rows};

pub fn check(history: &History, index: &Index<'_>, findings: &mut Findings) {
    let of = |what: What| history.events.iter().filter(move |event| event.what == what);
    let mut acked: HashMap<i64, HashSet<bool>> = HashMap::new();
    for event in of(What::Acked) {
        acked.entry(event.run).or_default().insert(event.code == 200);
    }
    // Their items may fail after their handlers have succeeded, or their success may have come too late for its items.
    let maps: HashSet<i64> = history.maps.iter().map(|map| map.run_id).collect();
    findings.total("cb_acked", acked.len());
    for (run, results) in &acked {
        let Some(row) = index.rows.get(run) else {
            findings.add(Figure::CbLost, || format!("run {run} has no row, {results:?} was acknowledged"));
            continue;
        };
        let holds = match row.state {
            State::Succeeded => results.contains(&true),
            // A person has ended it, and its executor may have been quicker.
            State::Killed if row.cause == rows::DELAYED => true,
            State::Failed if maps.contains(run) => true,
            State::Failed | State::Killed => results.contains(&false),
            _ => false,
        };
        if !holds {
            findings.add(Figure::CbLost, || format!("{results:?} was acknowledged: {row:?}"));
        }
    }
    // The very last ones may be under way when all is stopped.
    let stopped = history.meta.phases.stopped_at;
    for event in of(What::End).filter(|event| event.at < stopped && index.lives(event)) {
        if !acked.contains_key(&event.run) {
            findings.add(Figure::CbMissing, || format!("{event:?}"));
        }
    }
}
