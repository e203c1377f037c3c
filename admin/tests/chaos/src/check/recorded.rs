//! I1: every instant is recorded exactly once, as a run or inside one skipped range.

use std::collections::{BTreeMap, HashMap};

use super::index::Index;
use super::targets::Targets;
use super::{Figure, Findings};
use crate::clock::{Millis, text};
use crate::record::{History, MisfireRow, State};

pub fn check(history: &History, targets: &BTreeMap<i64, Targets>, index: &Index<'_>, findings: &mut Findings) {
    let recorded = recorded(history, targets, findings);
    for (job, targets) in targets {
        let end = end_of_schedule(history, *job, index, findings);
        findings.total("expected", targets.required.range(..=end).count());
        let of_job = recorded.get(job);
        for at in targets.required.range(..=end) {
            let times = of_job.and_then(|times| times.get(at)).copied().unwrap_or(0);
            match times {
                0 => findings.add(Figure::MissedUnrecorded, || {
                    format!("job {job} ({}) at {}: neither run nor range", index.group(*job), text(*at))
                }),
                1 => findings.total("recorded", 1),
                _ => {}
            }
        }
        for (at, times) in of_job.into_iter().flatten().filter(|(_, times)| **times > 1) {
            findings.add(Figure::RecordedTwice, || format!("job {job} at {}: {times} records", text(*at)));
        }
    }
    phantoms(history, targets, findings);
}

/// The instant of a job's last fire, if all its fires are on record. No count of the product is trusted here.
fn end_of_schedule(history: &History, job: i64, index: &Index<'_>, findings: &mut Findings) -> Millis {
    let Some(most) = index.jobs.get(&job).and_then(|job| job.max_fires()) else {
        return Millis::MAX;
    };
    let fires = history.runs.iter().filter(|run| run.job_id == job && run.is_first_of_instant());
    let fires: Vec<Millis> = fires.map(|run| run.fire_no).collect();
    if fires.len() > most {
        findings.add(Figure::Phantom, || format!("job {job} has {} fires, and may have {most}", fires.len()));
    }
    let last = fires.iter().max().copied().unwrap_or(Millis::MAX);
    if fires.len() < most { Millis::MAX } else { last }
}

/// How often each instant of each job is recorded.
fn recorded(
    history: &History,
    targets: &BTreeMap<i64, Targets>,
    findings: &mut Findings,
) -> HashMap<i64, BTreeMap<Millis, usize>> {
    let mut recorded: HashMap<i64, BTreeMap<Millis, usize>> = HashMap::new();
    for run in history.runs.iter().filter(|run| run.is_first_of_instant()) {
        *recorded.entry(run.job_id).or_default().entry(run.fire_no).or_default() += 1;
    }
    for range in &history.misfires {
        *findings.skipped.entry(range.reason.clone()).or_default() += range.count;
        let Some(targets) = targets.get(&range.job_id) else {
            continue;
        };
        let inside: Vec<Millis> = inside(targets, range);
        // What a range says is compared where the definition was not changed meanwhile.
        if !targets.is_blurred && inside.len() as i64 != range.count {
            findings.add(Figure::Phantom, || {
                format!(
                    "a range of job {} says {} instants and has {}: {range:?}",
                    range.job_id,
                    range.count,
                    inside.len()
                )
            });
        }
        for at in inside {
            *recorded.entry(range.job_id).or_default().entry(at).or_default() += 1;
        }
    }
    recorded
}

fn inside(targets: &Targets, range: &MisfireRow) -> Vec<Millis> {
    let allowed = targets.allowed.range(range.from_at..=range.to_at);
    allowed.copied().collect()
}

fn phantoms(history: &History, targets: &BTreeMap<i64, Targets>, findings: &mut Findings) {
    for run in history.runs.iter().filter(|run| run.is_first_of_instant()) {
        let known = targets.get(&run.job_id).is_some_and(|targets| targets.allowed.contains(&run.fire_no));
        let reason = run.reason.as_deref().unwrap_or_default();
        // Claimed ahead of its time, and then taken back: it says so.
        let taken_back = run.state == State::Cancelled && matches!(reason, "disabled" | "deleted");
        if !known && !taken_back {
            findings.add(Figure::Phantom, || format!("no instant: {run:?}"));
        }
    }
}
