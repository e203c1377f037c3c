//! The figures for people.

use std::fmt::Write as _;

use super::json::by_name;
use crate::check::{ClassTimes, Figure, Findings};
use crate::clock;
use crate::record::History;

pub fn text_of(history: &History, findings: &Findings, out: &mut String) -> std::fmt::Result {
    let meta = &history.meta;
    writeln!(out, "\n== {} · seed {} · {} s · control {} ==", meta.db, meta.seed, meta.seconds, meta.control)?;
    writeln!(out, "\n-- totals")?;
    for (name, total) in &findings.totals {
        writeln!(out, "{name:<28} {total:>8}")?;
    }
    for (what, count) in &meta.logged {
        writeln!(out, "logged: {what:<20} {count:>8}")?;
    }
    for (reason, count) in &findings.skipped {
        writeln!(out, "skipped: {reason:<19} {count:>8}")?;
    }
    writeln!(out, "\n-- anomalies (all must be 0)")?;
    for figure in Figure::ALL {
        writeln!(out, "{:<28} {:>8}", figure.name(), findings.count(figure))?;
    }
    writeln!(out, "\n-- lateness, ms{:>21}{:>8}{:>8}{:>8}{:>8}{:>6}", "count", "p50", "p99", "max", "bound", "over")?;
    times(out, "quiet", &findings.times.quiet)?;
    for (class, of_class) in &findings.times.by_class {
        times(out, class, of_class)?;
    }
    times(out, "asked again", &findings.times.asked_again)?;
    writeln!(
        out,
        "recovery: p50 {} ms, max {} ms; the machine: stalls p99 {} ms, CPU pressure {} %",
        findings.times.recovery_p50_ms,
        findings.times.recovery_max_ms,
        findings.times.machine_stall_p99_ms,
        findings.times.machine_pressure
    )?;
    if !findings.unknown_outcomes.is_empty() {
        writeln!(out, "\n-- unknown outcomes: marked by the killed node and never sent")?;
        for of_kill in &findings.unknown_outcomes {
            writeln!(
                out,
                "{} killed at {:+5} ms {:>8} runs, {:.3} s of runs",
                of_kill.node, of_kill.at_ms, of_kill.runs, of_kill.seconds
            )?;
        }
    }
    writeln!(out, "\n-- faults")?;
    for (name, count) in by_name(history) {
        writeln!(out, "{name:<40} {count:>4}")?;
    }
    for fault in &history.faults {
        let holder = if fault.held { " (holder)" } else { "" };
        writeln!(
            out,
            "{}  {:>6} ms  {:<34} {}{holder} {}",
            clock::text(fault.from),
            fault.to - fault.from,
            fault.name,
            fault.target,
            fault.note
        )?;
    }
    if findings.anomalies() > 0 {
        writeln!(out, "\n-- examples")?;
        for (figure, example) in findings.examples() {
            writeln!(out, "{}: {example}", figure.name())?;
        }
    }
    Ok(())
}

fn times(out: &mut String, name: &str, of: &ClassTimes) -> std::fmt::Result {
    writeln!(
        out,
        "{name:<28}{:>8}{:>8}{:>8}{:>8}{:>8}{:>6}",
        of.count, of.p50_ms, of.p99_ms, of.max_ms, of.bound_ms, of.over
    )
}

pub fn text(history: &History, findings: &Findings) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = text_of(history, findings, &mut out);
    out
}
