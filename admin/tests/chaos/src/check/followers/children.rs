//! I9: after each fire of a parent that succeeded, its child has run once; after no other.

use std::collections::HashMap;

use crate::check::index::Index;
use crate::check::{Figure, Findings};
use crate::record::{History, RunRow, State, rows};

pub fn check(history: &History, index: &Index<'_>, findings: &mut Findings) {
    let mut born: HashMap<(i64, i64), Vec<&RunRow>> = HashMap::new();
    let children = history.runs.iter().filter(|run| run.cause == rows::CHILD);
    for run in children.filter(|run| run.attempt == 1 && run.part == 0) {
        born.entry((run.job_id, run.fire_no)).or_default().push(run);
    }
    for rows in index.fires.values() {
        let Some(first) = rows.iter().find(|row| row.attempt == 1) else {
            continue;
        };
        let Some(job) = index.jobs.get(&first.job_id) else {
            continue;
        };
        let succeeded = rows.iter().any(|row| row.state == State::Succeeded);
        for child in &job.children {
            let runs = born.remove(&(*child, first.id)).unwrap_or_default();
            match (succeeded, runs.len()) {
                (true, 0) => findings.add(Figure::ChildMissing, || format!("job {child} after {rows:?}")),
                (true, 1) => findings.total("children", 1),
                (_, 0) => {}
                _ => findings.add(Figure::ChildTwice, || format!("{runs:?} after {rows:?}")),
            }
        }
    }
    for run in born.into_values().flatten() {
        findings.add(Figure::Phantom, || format!("a child of no parent: {run:?}"));
    }
}
