//! The rules of passing.

use std::fmt;

use crate::check::{Figure, Findings};
use crate::nemesis::fault_catalogue::{self, WHOLE_CATALOGUE_SECONDS};
use crate::record::History;

/// Why not; empty: passed.
pub struct Verdict {
    pub reasons: Vec<String>,
    head: String,
}

impl Verdict {
    pub fn is_passed(&self) -> bool {
        self.reasons.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        if self.is_passed() {
            return write!(out, "VERDICT: passed ({})", self.head);
        }
        write!(out, "VERDICT: failed ({}): {}", self.head, self.reasons.join("; "))
    }
}

pub fn judge(history: &History, findings: &Findings) -> Verdict {
    let meta = &history.meta;
    let mut reasons: Vec<String> = Figure::ALL
        .into_iter()
        .filter(|figure| findings.count(*figure) > 0)
        .map(|figure| format!("{} {}", figure.name(), findings.count(figure)))
        .collect();
    let total = |name: &str| findings.totals.get(name).copied().unwrap_or(0);
    // The promise is one of the release build; a short run is mostly one of a debug build beside other work, and has `late` alone.
    if meta.seconds >= WHOLE_CATALOGUE_SECONDS && !findings.times.p99_quiet_is_kept {
        reasons.push(format!("quiet p99 {} ms", findings.times.quiet.p99_ms));
    }
    // What the jobs of the load would come to, roughly: far less means that the load was never there.
    let offered = total("expected") as f64;
    let is_rehearsal = !meta.rehearsal.is_empty();
    let rate = if is_rehearsal { history.jobs.len() as f64 } else { 50.0 };
    let nominal = rate * (meta.phases.stopped_at - meta.phases.started_at) as f64 / 1000.0;
    if meta.db != "sqlite" && offered < 0.95 * nominal {
        reasons.push(format!("only {offered} instants of {nominal:.0} were offered"));
    }
    if let missed @ 1.. = total("fires_missed") {
        reasons.push(format!("the nodes' own audit missed {missed} instants"));
    }
    let failed = history.faults.iter().filter(|fault| fault.failed);
    reasons.extend(failed.map(|fault| format!("fault {}: {}", fault.name, fault.note.trim())));
    if let Some(panics @ 1..) = meta.logged.get("panics") {
        reasons.push(format!("{panics} panics in the nodes' logs"));
    }
    // A run of chosen faults need not hit everything that a run of all faults must hit.
    let with_faults = !history.faults.is_empty() && !meta.chosen;
    if with_faults && meta.db != "sqlite" && !is_rehearsal {
        // In a short run the callback may settle each lost answer before the resolver asks; the executor that never answers
        // is always asked.
        let is_short = meta.seconds < WHOLE_CATALOGUE_SECONDS;
        let asked = total("resolver") + if is_short { total("unknown") } else { 0 };
        for (name, hits) in [("fence_hits", total("fence_hits")), ("resolver", asked)] {
            if hits == 0 {
                reasons.push(format!("{name} 0: the windows that matter were not hit"));
            }
        }
        let missing = fault_catalogue::missing(history);
        if meta.seconds >= WHOLE_CATALOGUE_SECONDS && !missing.is_empty() {
            reasons.push(format!("faults not injected: {}", missing.join(", ")));
        }
        let least = meta.seconds / if meta.soak { 9 } else { 6 };
        if (history.faults.len() as u64) < least {
            reasons.push(format!("{} faults, {least} are the least", history.faults.len()));
        }
    }
    Verdict {
        reasons,
        head: format!("{}, seed {}, {} s, {} faults", meta.db, meta.seed, meta.seconds, history.faults.len()),
    }
}
