//! I3: nothing is early, and what is late is late by no more than the faults around it allow.

use std::collections::BTreeMap;

use serde::Serialize;

use super::bounds::{Bounds, HOP, QUIET};
use super::index::Index;
use super::machine::Machine;
use super::{Figure, Findings};
use crate::clock::{Millis, text};
use crate::load::LONGEST_REST;
use crate::record::{Class, History, Job, RunRow};

/// All on one host: what two clock readings may differ by.
const CLOCK_ERROR: Millis = 20;
/// How long an address that was refused is passed over.
const BREAKER: Millis = 10_000;
/// The promise for the 99th percentile without faults.
const QUIET_P99: Millis = 300;

#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassTimes {
    pub count: usize,
    pub p50_ms: Millis,
    pub p99_ms: Millis,
    pub max_ms: Millis,
    /// The largest bound of any of them.
    pub bound_ms: Millis,
    pub over: usize,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Times {
    pub quiet: ClassTimes,
    /// Without the runs that were asked again.
    pub by_class: BTreeMap<String, ClassTimes>,
    /// Runs whose outcome was unknown and that their executor was asked to take once more.
    pub asked_again: ClassTimes,
    /// From the end of each fault to the first five seconds in which all is on time, those aside: ms.
    pub recovery_p50_ms: Millis,
    pub recovery_max_ms: Millis,
    /// How late the machine woke the suite's own threads: bounds are wider by what it was around their instant.
    pub machine_stall_p99_ms: Millis,
    /// Mean CPU pressure, per cent.
    pub machine_pressure: f64,
    pub p99_quiet_is_kept: bool,
}

/// One delivery in time.
struct Delay {
    at: Millis,
    late: Millis,
    bound: Millis,
    class: Option<Class>,
    typical: bool,
    /// Its first request may never have left: such runs are counted apart.
    asked_again: bool,
}

/// The engine's wait before an unanswered run is resolved, its audit's period, and a second.
pub const RESOLVED: Millis = 21_000;

/// An edit that has just been made is not on time for what it plans.
const EDITED: Millis = 3_000;

/// Requests that two tasks begin at once are received in any order.
const TOGETHER: Millis = 100;

/// A job this young may be reached by its first scan only after its first instant, by as much, ms.
const NEW: Millis = 3_000;

pub fn check(history: &History, index: &Index<'_>, bounds: &Bounds<'_>, findings: &mut Findings) {
    let mut delays = Vec::new();
    for run in history.runs.iter().filter(|run| run.is_first_of_instant()) {
        let Some(received) = index.first_receipt(run.id) else {
            continue;
        };
        let late = received - run.scheduled_at;
        if late < -CLOCK_ERROR {
            findings.add(Figure::Early, || format!("by {} ms: {run:?}", -late));
        }
        let mut again = 0;
        if run.sends > 1 {
            // Its first request may never have left: the resolver asked again, after its wait and its poll.
            again += RESOLVED;
            if history.meta.db == "sqlite" {
                // One node that is killed every few seconds never lives long enough to wait that long.
                again += (history.meta.phases.recovered_at - run.scheduled_at).max(0);
            }
        }
        let (mut bound, class) = match index.group(run.job_id) {
            "resting" => of_resting(bounds, run.scheduled_at, again),
            _ => bounds.of(run.scheduled_at, again),
        };
        let new = index.jobs.get(&run.job_id).is_some_and(|job| run.scheduled_at < job.created_at + NEW);
        if new {
            bound += NEW;
        }
        bound += match index.group(run.job_id) {
            // One of the two executors is a black hole. When a fault closes the way to the other one too, the run waits
            // until the breaker lets a request try that one again.
            "hole" => HOP + BREAKER,
            // Three requests without an answer close the way to their service. After each pause one of the runs that wait is tried, and
            // none leaves after the threshold of its job. That the earliest is tried is seen below.
            "http_cut" => threshold(index, run.job_id),
            "edited" => EDITED,
            // What was due in a pause is planned after it.
            "resting" => LONGEST_REST as Millis + EDITED,
            _ => 0,
        };
        if late > bound {
            findings.add(Figure::Late, || format!("by {late} ms, allowed {bound} ({class:?}): {}", described(run)));
        }
        // Not typical of anything: a hop to a black hole, an edit a moment ago, a job a moment old.
        delays.push(Delay {
            at: run.scheduled_at,
            late,
            bound,
            class,
            typical: !new && !matches!(index.group(run.job_id), "hole" | "http_cut" | "edited" | "resting"),
            asked_again: run.sends > 1,
        });
    }
    check_trials(history, index, bounds, findings);
    findings.times = times(history, &delays, &bounds.machine);
}

/// A service that is closed is tried again after each pause, with the run that waits longest. It is seen at runs that waited in a quiet time:
/// none is passed by a later one of its job, as both are with the same node, and none is given up while its node tries nothing.
fn check_trials(history: &History, index: &Index<'_>, bounds: &Bounds<'_>, findings: &mut Findings) {
    let is_cut = |run: &&RunRow| run.is_first_of_instant() && run.sends <= 1 && index.group(run.job_id) == "http_cut";
    let cut: Vec<&RunRow> = history.runs.iter().filter(is_cut).collect();
    let is_quiet = |at: Millis| bounds.of(at, 0).1.is_none();
    for run in &cut {
        let received = index.first_receipt(run.id);
        let given_up = run.finished_at.filter(|_| run.reason.as_deref() == Some("no_executor"));
        let Some(until) = received.or(given_up) else { continue };
        let trials: Vec<(&RunRow, Millis)> = cut
            .iter()
            .filter(|other| other.id != run.id && other.owner == run.owner)
            .filter_map(|other| Some((*other, index.first_receipt(other.id)?)))
            .filter(|(_, at)| (run.scheduled_at..until).contains(at))
            .collect();
        let wrong = trials.iter().find(|(other, at)| {
            let is_later = other.job_id == run.job_id && other.scheduled_at > run.scheduled_at;
            is_later && *at < until - TOGETHER && is_quiet(*at)
        });
        if let Some((other, _)) = wrong {
            findings.add(Figure::Late, || {
                format!("{} at a service that is closed, passed by run {}", described(run), other.id)
            });
        }
        findings.total("waited_for_trials", usize::from(!trials.is_empty()));
        if received.is_none() && trials.is_empty() && (run.scheduled_at..until).step_by(500).all(is_quiet) {
            findings
                .add(Figure::Late, || format!("{} given up, and its node has not tried the service", described(run)));
        }
    }
}

fn described(run: &RunRow) -> String {
    format!("job {} at {}, run {}", run.job_id, text(run.scheduled_at), run.id)
}

/// How late a run of the job may be sent.
fn threshold(index: &Index<'_>, job_id: i64) -> Millis {
    let seconds = |job: &Job| job.draft["misfire_threshold_seconds"].as_i64();
    1_000 * index.jobs.get(&job_id).and_then(|job| seconds(job)).unwrap_or(0)
}

/// What was due in a pause leaves after it: a fault of then counts as one of its own time does.
fn of_resting(bounds: &Bounds<'_>, at: Millis, besides: Millis) -> (Millis, Option<Class>) {
    let rest = LONGEST_REST as Millis;
    let moments = (0..=rest).step_by(500).map(|after| bounds.of(at + after, besides));
    moments.max_by_key(|(bound, _)| *bound).unwrap_or_else(|| bounds.of(at, besides))
}

fn times(history: &History, delays: &[Delay], machine: &Machine) -> Times {
    let of = |class: Option<Class>| {
        class_times(delays.iter().filter(|delay| delay.typical && !delay.asked_again && delay.class == class))
    };
    let quiet = of(None);
    let by_class = Class::ALL
        .into_iter()
        .map(|class| (class.as_str().to_owned(), of(Some(class))))
        .filter(|(_, times)| times.count > 0)
        .collect();
    let mut recoveries = recoveries(history, delays);
    recoveries.sort_unstable();
    Times {
        p99_quiet_is_kept: quiet.p99_ms <= QUIET_P99 + machine.stall_p99(),
        machine_stall_p99_ms: machine.stall_p99(),
        machine_pressure: machine.pressure(),
        quiet,
        by_class,
        asked_again: class_times(delays.iter().filter(|delay| delay.asked_again)),
        recovery_p50_ms: percentile(&recoveries, 50),
        recovery_max_ms: recoveries.last().copied().unwrap_or(0),
    }
}

fn class_times<'a>(delays: impl Iterator<Item = &'a Delay>) -> ClassTimes {
    let (mut late, mut over, mut bound_ms) = (Vec::new(), 0, 0);
    for delay in delays {
        late.push(delay.late);
        over += usize::from(delay.late > delay.bound);
        bound_ms = bound_ms.max(delay.bound);
    }
    late.sort_unstable();
    ClassTimes {
        count: late.len(),
        p50_ms: percentile(&late, 50),
        p99_ms: percentile(&late, 99),
        max_ms: late.last().copied().unwrap_or(0),
        bound_ms,
        over,
    }
}

/// A percentile of an ascending list.
pub fn percentile(sorted: &[Millis], percent: usize) -> Millis {
    let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(index).copied().unwrap_or(0)
}

/// For each fault: from its end to the first moment after which five seconds have no late instant.
fn recoveries(history: &History, delays: &[Delay]) -> Vec<Millis> {
    let mut late: Vec<Millis> = delays.iter().filter(|d| d.late > QUIET && !d.asked_again).map(|d| d.at).collect();
    late.sort_unstable();
    let each = history.faults.iter();
    each.map(|fault| {
        let mut since = fault.to;
        for at in late.iter().filter(|at| **at >= fault.to) {
            if *at > since + 5_000 {
                break;
            }
            since = at + 1;
        }
        since - fault.to
    })
    .collect()
}
