//! I6 and I7: nodes end when and how they should, and none sends to an executor that has left.

use std::collections::BTreeMap;

use super::index::Index;
use super::{Figure, Findings};
use crate::record::{Class, Event, Exit, History, State, What};

/// What a graceful stop may take.
const STOP_WITHIN_MS: i64 = 15_000;
/// How long a starting node may wait for a connection or a statement that the fault has swallowed.
const NOTICED_WITHIN_MS: i64 = 15_000;
/// How long caches of the list of executors live.
const LEAVE_MS: i64 = 1_500;

pub fn check(history: &History, index: &Index<'_>, findings: &mut Findings) {
    for exit in &history.exits {
        if !in_order(history, exit) {
            findings.add(Figure::BadExit, || format!("{exit:?}"));
        }
    }
    sent_after_leave(history, index, findings);
    counters(history, findings);
}

fn in_order(history: &History, exit: &Exit) -> bool {
    match &*exit.why {
        "SIGTERM" | "stop" => {
            exit.how == "exit 0" && exit.took_ms <= STOP_WITHIN_MS || exit.how == "signal 6" && was_armed(history, exit)
        }
        // A node that cannot reach its database says so, ends, and is started again.
        "start" => exit.how == "exit 1" && database_was_away(history, exit),
        "by itself" => false,
        _ => true,
    }
}

/// A failpoint that another fault had armed may end a node while it stops.
fn was_armed(history: &History, exit: &Exit) -> bool {
    history.faults.iter().any(|fault| {
        fault.name.starts_with("abort_") && fault.target == exit.process && (fault.from..=fault.to).contains(&exit.at)
    })
}

fn database_was_away(history: &History, exit: &Exit) -> bool {
    history.faults.iter().any(|fault| {
        fault.class == Class::Database
            && [&*exit.process, "database"].contains(&&*fault.target)
            && (fault.from..=fault.to + NOTICED_WITHIN_MS).contains(&exit.at)
    })
}

fn sent_after_leave(history: &History, index: &Index<'_>, findings: &mut Findings) {
    let mut left: BTreeMap<&str, &Event> = BTreeMap::new();
    for event in &history.events {
        match event.what {
            What::Deregistered => {
                left.insert(&event.boot, event);
            }
            What::Receive => {
                let Some(gone) = left.get(&*event.boot) else {
                    continue;
                };
                let sent = index.rows.get(&event.run).and_then(|row| row.sent_at);
                if sent.is_some_and(|sent| sent > gone.at + LEAVE_MS) {
                    findings.add(Figure::SentAfterLeave, || format!("left {gone:?}, then {event:?}"));
                }
            }
            _ => {}
        }
    }
}

/// Counters of all nodes and all of their starts: a counter that falls has started again at 0.
fn counters(history: &History, findings: &mut Findings) {
    for (name, total) in [
        ("fence_hits", "carillon_fence_hits_total"),
        ("alarms", "carillon_alarms_total"),
        ("fires_missed", "carillon_fires_missed_total"),
    ] {
        findings.totals.insert(name, summed(history, total) as i64);
    }
    // Not those of the executor that never answers: each of its runs is unclear.
    let hang = history.jobs.iter().filter(|job| job.group == "hang");
    let hang: Vec<i64> = hang.map(|job| job.id).collect();
    let unclear =
        history.runs.iter().filter(|run| !hang.contains(&run.job_id) && (run.sends > 1 || run.state == State::Unknown));
    findings.total("resolver", unclear.count());
    let peak = |of: fn(&crate::record::Sample) -> u64| history.samples.iter().map(of).max().unwrap_or(0) as i64;
    findings.totals.insert("admin_rss_mib_peak", peak(|sample| sample.rss_kib / 1024));
    findings.totals.insert("admin_descriptors_peak", peak(|sample| sample.descriptors));
}

/// The sum over all labels, all nodes and all of their starts.
fn summed(history: &History, name: &str) -> f64 {
    let mut last: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut sum = 0.0;
    for sample in &history.samples {
        let with_labels = sample.metrics.iter().filter(|(metric, _)| {
            metric.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('{'))
        });
        for (metric, value) in with_labels {
            let before = last.insert((&sample.process, metric), *value).unwrap_or(0.0);
            sum += if *value >= before { value - before } else { *value };
        }
    }
    sum
}
