//! How late an instant may be, by the faults around it and by what the machine could do meanwhile. Lateness and the matching
//! of deliveries ask here, so that an instant which is in time for the one is in time for the other.

use super::machine::Machine;
use crate::clock::Millis;
use crate::record::{Class, Fault, History, Meta};

/// Without any fault.
pub const QUIET: Millis = 1_000;
/// To find out that an address does not answer a connection, and some more for the queue behind it.
pub const HOP: Millis = 3_000;
/// How long before its instant a mark may be committed, and some more for the statement itself.
const MARK_AHEAD: Millis = 400;
/// Between an instant and its request: a queue, a definition that is read.
const JUST_BEFORE: Millis = 1_000;

pub struct Bounds<'a> {
    meta: &'a Meta,
    /// In the order of their beginnings.
    faults: Vec<&'a Fault>,
    pub machine: Machine,
}

impl<'a> Bounds<'a> {
    pub fn new(history: &'a History) -> Self {
        let mut faults: Vec<&Fault> = history.faults.iter().collect();
        faults.sort_by_key(|fault| fault.from);
        Self { meta: &history.meta, faults, machine: Machine::new(history) }
    }

    /// How late an instant may be, and the class of the fault that allows most of it; None: quiet. `besides`: what is
    /// allowed for a reason that is no fault.
    pub fn of(&self, at: Millis, besides: Millis) -> (Millis, Option<Class>) {
        let (bound, class) = self.by_faults(at);
        (self.machine.widen(bound + besides, at), class)
    }

    fn by_faults(&self, at: Millis) -> (Millis, Option<Class>) {
        let (around, others): (Vec<&Fault>, Vec<&Fault>) =
            self.faults.iter().partition(|fault| self.reaches(fault, at));
        let Some(worst) = around.iter().max_by_key(|fault| self.alone(fault, at)) else {
            return (QUIET, None);
        };
        // Overlapping ones add up: a peer that takes over may have to wait for the database as well.
        let sum: Millis = around.iter().map(|fault| self.alone(fault, at)).sum();
        let waits_until = self.waits_until(at + self.alone(worst, at), &others);
        let bound = sum.max(waits_until - at).max(QUIET);
        (bound, Some(worst.class))
    }

    fn reaches(&self, fault: &Fault, at: Millis) -> bool {
        let from = fault.from - self.meta.look_ahead_ms;
        (from..=self.recovered(fault)).contains(&at)
    }

    /// When an instant that waits for the fault's end, or that its recovery delays, has been sent.
    fn recovered(&self, fault: &Fault) -> Millis {
        fault.to + fault.class.recovers_within(self.meta.ttl_ms)
    }

    /// How late the instant may be by this fault alone.
    fn alone(&self, fault: &Fault, at: Millis) -> Millis {
        let lasts = fault.to - fault.from;
        let bound = fault.class.bound(lasts, self.meta.ttl_ms);
        // Marked by a holder that was paused before it could send: no other node may send it until that one gives the run
        // back or the resolver asks.
        let was_marked = (fault.from - JUST_BEFORE..=fault.from + MARK_AHEAD).contains(&at);
        match was_marked && fault.class == Class::Holder {
            true => bound.max(lasts + HOP),
            false => bound,
        }
    }

    /// A second fault may hit an instant that waits: the node that should take its shard over is killed as well, and stays
    /// in the list of members for a lease; the database is away when the first lease ends. Such faults follow each other;
    /// one of another class delays the request at the end. Not a sum: each bound counts from the end of its own fault.
    fn waits_until(&self, until: Millis, later: &[&Fault]) -> Millis {
        let delays_a_takeover = |class| matches!(class, Class::Holder | Class::Database);
        let taken_over = later.iter().filter(|fault| delays_a_takeover(fault.class)).fold(until, |until, fault| {
            match fault.from <= until {
                true => until.max(self.recovered(fault)),
                false => until,
            }
        });
        let at_the_end = later
            .iter()
            .filter(|fault| fault.class != Class::Harmless && fault.from <= taken_over)
            .map(|fault| self.recovered(fault));
        at_the_end.max().map_or(taken_over, |end| end.max(taken_over))
    }
}
