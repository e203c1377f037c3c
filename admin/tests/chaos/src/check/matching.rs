//! The same question without our keys: of a job's receipts in the order of time, each belongs to the open instant that
//! ends first. A difference from the other checks is a defect of labels, or of the checker.

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::Bounds;
use super::index::Index;
use super::targets::Targets;
use super::{Figure, Findings};
use crate::clock::{Millis, text};
use crate::record::History;

const EARLY: Millis = 20;
/// On top of the bound: what is a little late is counted by the check of lateness.
const SLACK: Millis = 2_000;

pub fn check(
    history: &History,
    targets: &BTreeMap<i64, Targets>,
    index: &Index<'_>,
    bounds: &Bounds<'_>,
    findings: &mut Findings,
) {
    // Where repeats are allowed, and where instants are blurred, counts say nothing.
    let plain = |job: &&crate::record::Job| {
        job.retries == 0 && matches!(&*job.group, "every_2" | "every_5" | "all" | "minute" | "herd")
    };
    for job in history.jobs.iter().filter(plain) {
        let Some(targets) = targets.get(&job.id) else {
            continue;
        };
        let mut receipts = receipts_of(history, index, job.id);
        receipts.sort_unstable();
        // Instants whose rows say why nothing came are no targets: they would take the receipts of their successors.
        let excused = excuses(history, index, job.id);
        let open = targets.allowed.difference(&excused).copied().collect();
        let matched = sweep(bounds, &open, &receipts);
        for at in matched.extra {
            findings.add(Figure::Extra, || format!("job {} received at {}", job.id, text(at)));
        }
        for at in matched.missed {
            if targets.required.contains(&at) {
                findings.add(Figure::Missed, || format!("job {} at {}", job.id, text(at)));
            }
        }
    }
}

/// When the job's runs were received; a request that was repeated to the same process counts once.
fn receipts_of(history: &History, index: &Index<'_>, job: i64) -> Vec<Millis> {
    let mut seen = std::collections::HashSet::new();
    let events = history.events.iter().filter(|event| {
        event.what == crate::record::What::Receive && event.job == job && event.key.contains(":schedule:")
    });
    events
        .filter(|event| !is_resent(index, event.run))
        .filter(|event| !index.own.contains(&*event.executor) || seen.insert((&*event.executor, event.run)))
        .map(|event| event.at)
        .collect()
}

/// What the resolver asks about again comes much later than any fault explains: the other checks judge it.
fn is_resent(index: &Index<'_>, run: i64) -> bool {
    index.rows.get(&run).is_some_and(|row| row.sends > 1)
}

/// Instants whose row says why nothing was received, and those of resent runs.
fn excuses(history: &History, index: &Index<'_>, job: i64) -> BTreeSet<Millis> {
    let mut all: BTreeSet<Millis> = history
        .runs
        .iter()
        .filter(|run| run.job_id == job)
        .filter(|run| {
            let says_why = run.reason.is_some() && index.receipts_of(run.id).is_empty();
            says_why || run.sends > 1
        })
        .map(|run| run.fire_no)
        .collect();
    for range in history.misfires.iter().filter(|range| range.job_id == job) {
        all.extend((range.from_at..=range.to_at).step_by(1000));
    }
    all
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Matched {
    extra: Vec<Millis>,
    missed: Vec<Millis>,
}

fn sweep(bounds: &Bounds<'_>, targets: &BTreeSet<Millis>, receipts: &[Millis]) -> Matched {
    let mut waiting = targets.iter().copied().peekable();
    // Ends of windows that are open, with their instants.
    let mut open: BTreeMap<(Millis, Millis), ()> = BTreeMap::new();
    let mut matched = Matched::default();
    for received in receipts {
        while let Some(at) = waiting.next_if(|at| at - EARLY <= *received) {
            open.insert((at + bounds.of(at, 0).0 + SLACK, at), ());
        }
        while let Some(((ends, at), ())) = open.first_key_value().map(|(key, ())| (*key, ())) {
            if ends >= *received {
                break;
            }
            matched.missed.push(at);
            open.remove(&(ends, at));
        }
        if open.pop_first().is_none() {
            matched.extra.push(*received);
        }
    }
    matched.missed.extend(open.into_keys().map(|(_, at)| at));
    matched.missed.extend(waiting);
    matched
}
