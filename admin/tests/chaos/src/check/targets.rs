//! Which instants must be recorded, and which may be: from what the API was asked and what it answered.

use std::collections::{BTreeMap, BTreeSet};

use super::unclear::settled_at;
use crate::clock::Millis;
use crate::oracle::instants;
use crate::record::{Call, History, Job, Op, Outcome, Schedule};

/// An instant this close to a change may lie on either side of it.
const BLUR: Millis = 1_000;

/// The instants of one job.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    pub required: BTreeSet<Millis>,
    /// All that may be; the required ones too.
    pub allowed: BTreeSet<Millis>,
    /// The definition may have been another one than the calls say: counts of ranges are not compared.
    pub is_blurred: bool,
}

/// What may hold at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    enabled: bool,
    schedule: Schedule,
}

pub fn of_all(history: &History) -> BTreeMap<i64, Targets> {
    let mut calls: BTreeMap<i64, Vec<&Call>> = BTreeMap::new();
    for call in &history.calls {
        calls.entry(call.job).or_default().push(call);
    }
    let each = history.jobs.iter();
    each.map(|job| {
        let calls = calls.remove(&job.id).unwrap_or_default();
        (job.id, of_one(job, &calls, history))
    })
    .collect()
}

fn of_one(job: &Job, calls: &[&Call], history: &History) -> Targets {
    let mut targets = Targets::default();
    let mut held = vec![Held { enabled: true, schedule: job.schedule.clone() }];
    let mut calls: Vec<&Call> = calls.iter().copied().filter(|call| changes_targets(&call.op)).collect();
    calls.sort_by_key(|call| call.invoked_at);
    // In the first second only instants after the creation of the row are possible.
    let mut from = job.created_at + BLUR;
    optional(&mut targets, &held, job.created_at, from);
    // Calls that may still take effect, and until when.
    let mut unclear: Vec<(&Call, Millis)> = vec![];
    for call in calls {
        let until = call.invoked_at - BLUR;
        settled(&mut targets, &held, from, until);
        let before = held.clone();
        unclear.retain(|(_, until)| *until >= call.invoked_at);
        held = perhaps_after(after(&held, call), &unclear);
        if call.outcome == Outcome::Unclear {
            unclear.push((call, settled_at(history, call)));
        }
        let both: Vec<Held> = before.iter().chain(&held).cloned().collect();
        from = call.returned_at + BLUR;
        optional(&mut targets, &both, until.min(from), from);
        targets.is_blurred |= !matches!(call.op, Op::Disable | Op::Create);
    }
    settled(&mut targets, &held, from, history.meta.phases.dumped_at);
    // The engine pauses a job that it cannot plan; when it does so is not promised.
    if matches!(job.group.as_str(), "bad_zone" | "no_next") {
        targets.required.clear();
        targets.is_blurred = true;
    }
    targets
}

/// A pause that ends by itself changes when its instants are recorded, not which.
fn changes_targets(op: &Op) -> bool {
    !op.is_about_a_run() && !matches!(op, Op::Pause { .. })
}

/// What may hold after a call.
fn after(held: &[Held], call: &Call) -> Vec<Held> {
    let new = held.iter().map(|old| changed(old, call));
    let mut may_hold: Vec<Held> = match call.outcome {
        Outcome::Fail => held.to_vec(),
        Outcome::Ok => new.collect(),
        Outcome::Unclear => held.iter().cloned().chain(new).collect(),
    };
    may_hold.dedup();
    may_hold
}

fn changed(old: &Held, call: &Call) -> Held {
    match &call.op {
        op if op.is_about_a_run() => old.clone(),
        Op::Create | Op::Pause { .. } => old.clone(),
        Op::Edit { schedule } => Held { enabled: true, schedule: schedule.clone() },
        op => Held { enabled: *op == Op::Enable, schedule: old.schedule.clone() },
    }
}

/// What may hold when calls of unclear outcome may still take effect, in any order.
fn perhaps_after(mut held: Vec<Held>, unclear: &[(&Call, Millis)]) -> Vec<Held> {
    let mut next = 0;
    while let Some(old) = held.get(next).cloned() {
        for (call, _) in unclear {
            let new = changed(&old, call);
            if !held.contains(&new) {
                held.push(new);
            }
        }
        next += 1;
    }
    held
}

/// Between calls: what is an instant under every definition that may hold must be there.
fn settled(targets: &mut Targets, held: &[Held], after: Millis, until: Millis) {
    let mut each = held.iter().map(|held| of_held(held, after, until));
    let mut common: BTreeSet<Millis> = each.next().unwrap_or_default();
    for other in each {
        common = common.intersection(&other).copied().collect();
    }
    targets.required.extend(common);
    optional(targets, held, after, until);
}

fn optional(targets: &mut Targets, held: &[Held], after: Millis, until: Millis) {
    for held in held {
        targets.allowed.extend(of_held(held, after, until));
    }
}

fn of_held(held: &Held, after: Millis, until: Millis) -> BTreeSet<Millis> {
    match held.enabled {
        true => instants(&held.schedule, after, until).into_iter().collect(),
        false => BTreeSet::new(),
    }
}
