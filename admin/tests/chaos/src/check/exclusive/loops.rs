//! Loops: no two executors call one at a moment, each epoch is of one start of one executor, and between two calls is no more time than
//! faults allow.

use std::collections::HashMap;

use crate::check::machine::Machine;
use crate::check::{Figure, Findings};
use crate::clock::{Millis, text};
use crate::load::loops::LEASE_MS;
use crate::record::{Class, Fault, Fire, History, Job};

/// From the end of a lease to the first instant of the next grant.
const TAKE_OVER: Millis = 1_000;
/// From the change of a job to the end of the grant before.
const CHANGED: Millis = 1_000;
/// From the creation of a job to its first grant.
const STARTED: Millis = 5_000;
/// How long an executor that was not there is passed over.
const PASSED_OVER: Millis = 10_000;
/// By how much a call may be late without a fault.
const SLACK: Millis = 500;

/// Faults after which an executor has lost its loops, counted from their beginning.
const AT_ONCE: [&str; 6] = [
    "executor_kill",
    "executor_stop",
    "executor_term",
    "loop_executor_killed",
    "loop_executor_stopped",
    "loop_renewal_cut",
];
/// The same: at some time during the fault.
const MEANWHILE: [&str; 3] = ["executor_wiped", "batch_executor_killed", "map_executor_killed"];
/// Takes no loops away, and gets none.
const UNREACHABLE: &str = "executor_unreachable";
/// The executors that take loops.
const OWN: [&str; 2] = ["e1", "e2"];
const GRANT_DELAYED: &str = "loop_grant_delayed";

pub fn check(history: &History, machine: &Machine, findings: &mut Findings) {
    let mut by_job: HashMap<i64, Vec<&Fire>> = HashMap::new();
    for fire in &history.fires {
        by_job.entry(fire.job).or_default().push(fire);
    }
    let mut longest = 0;
    for job in history.jobs.iter().filter(|job| job.is_loop()) {
        let mut fires = by_job.remove(&job.id).unwrap_or_default();
        fires.sort_by_key(|fire| fire.mono_us);
        in_order(history, &fires, findings);
        longest = longest.max(gaps(history, job, &fires, machine, findings));
        findings.total("loop_calls", fires.len());
    }
    findings.totals.insert("loop_longest_gap_ms", longest);
}

/// The order of epochs is that of grants: after the first call of a grant no earlier grant may have one.
fn in_order(history: &History, fires: &[&Fire], findings: &mut Findings) {
    let mut owners: HashMap<i64, &Fire> = HashMap::new();
    let mut latest: Option<&Fire> = None;
    for fire in fires.iter().copied() {
        let owner = *owners.entry(fire.epoch).or_insert(fire);
        if (&owner.executor, &owner.boot) != (&fire.executor, &fire.boot) {
            findings.add(Figure::LoopEpoch, || format!("{owner:?}, then {fire:?}"));
        }
        match latest.filter(|latest| latest.epoch > fire.epoch) {
            None => latest = Some(fire),
            Some(_) if began_before_a_pause(history, fire) => findings.total("loop_calls_paused", 1),
            Some(latest) => findings.add(Figure::LoopTwice, || format!("{latest:?}, then {fire:?}")),
        }
    }
    findings.total("loop_grants", owners.len());
}

/// Its process was paused between the permission of this call and its first word, which it said when it went on. What a call was begun for
/// tells it from a call that begins after the pause.
fn began_before_a_pause(history: &History, fire: &Fire) -> bool {
    history.faults.iter().any(|fault| {
        (fault.name.ends_with("_stop") || fault.name.ends_with("_stopped"))
            && fault.target == fire.executor
            && fire.instant <= fault.from + SLACK
            && (fault.from..=fault.to + TAKE_OVER).contains(&fire.at)
    })
}

/// The longest time between two calls.
fn gaps(history: &History, job: &Job, fires: &[&Fire], machine: &Machine, findings: &mut Findings) -> Millis {
    let mut longest = 0;
    let standstills = Standstills { history, machine, period: job.period_ms().unwrap_or(1_000) };
    let mut check = |from: Millis, lasts: Millis, holder: &str| {
        longest = longest.max(lasts);
        let allowed = standstills.allowed(from, lasts, holder);
        if lasts > allowed {
            let (name, since) = (&job.name, text(from));
            findings.add(Figure::LoopGap, || {
                format!("{name}, last called by {holder:?} at {since}: {lasts} ms, allowed {allowed}")
            });
        }
    };
    let (created, stopped) = (job.created_at + STARTED, history.meta.phases.stopped_at);
    let first = fires.first().map_or(stopped, |fire| fire.at);
    check(created, first - created, "");
    for pair in fires.windows(2) {
        check(pair[0].at, (pair[1].mono_us - pair[0].mono_us) / 1_000, &pair[0].executor);
    }
    if let Some(last) = fires.last() {
        check(last.at, stopped - last.at, &last.executor);
    }
    longest
}

struct Standstills<'a> {
    history: &'a History,
    machine: &'a Machine,
    period: Millis,
}

impl Standstills<'_> {
    /// How long a loop may stand still that this executor has called at `from`. The machine counts at both ends.
    fn allowed(&self, from: Millis, lasts: Millis, holder: &str) -> Millis {
        let calm = 2 * self.period + SLACK;
        if lasts <= calm {
            return calm;
        }
        let bound = self.until(from, holder) - from;
        self.machine.widen(bound, from).max(self.machine.widen(bound, from + lasts))
    }

    /// What begins in this time may make it longer. Not a sum: each bound counts from its own fault.
    fn until(&self, from: Millis, holder: &str) -> Millis {
        let (mut until, mut moves) = (from + 2 * self.period + SLACK, false);
        loop {
            let (before, moved) = (until, moves);
            for fault in self.history.faults.iter().filter(|fault| fault.from <= before) {
                let Some(end) = self.felt_until(fault, holder, moved).filter(|end| *end >= from) else { continue };
                until = until.max(end + 2 * self.period);
                moves |= self.is_lost_by(fault, holder);
            }
            if (until, moves) == (before, moved) {
                return until;
            }
        }
    }

    /// Whether the loop needs another grant because of it.
    fn is_lost_by(&self, fault: &Fault, holder: &str) -> bool {
        let name = &*fault.name;
        name == GRANT_DELAYED || self.is_of_all(fault) || fault.target == holder && is_loss(name)
    }

    /// Nothing can be renewed.
    fn is_of_all(&self, fault: &Fault) -> bool {
        fault.class == Class::Database || self.history.meta.db == "sqlite" && fault.class == Class::Holder
    }

    /// Until when a loop may have no call because of it. `moves`: the loop needs another grant; who makes it or gets it counts only then.
    fn felt_until(&self, fault: &Fault, holder: &str, moves: bool) -> Option<Millis> {
        let taken_over = |at: Millis| Some(at + LEASE_MS + TAKE_OVER);
        let recovered = fault.to + fault.class.recovers_within(self.history.meta.ttl_ms);
        match &*fault.name {
            GRANT_DELAYED => taken_over(fault.from + CHANGED),
            _ if fault.class == Class::Executor && !OWN.contains(&&*fault.target) => None,
            name if AT_ONCE.contains(&name) && fault.target == holder => taken_over(fault.from),
            name if MEANWHILE.contains(&name) && fault.target == holder => taken_over(fault.to),
            name if is_loss(name) || name == UNREACHABLE => moves.then_some(fault.to + PASSED_OVER + TAKE_OVER),
            _ if self.is_of_all(fault) => taken_over(recovered),
            _ => match fault.class {
                // Its requests of runs were spoilt.
                Class::Executor => None,
                Class::Harmless => moves.then_some(recovered + TAKE_OVER),
                _ if moves => Some(recovered + TAKE_OVER).max(taken_over(fault.from)),
                _ => taken_over(fault.from),
            },
        }
    }
}

fn is_loss(name: &str) -> bool {
    AT_ONCE.contains(&name) || MEANWHILE.contains(&name)
}
