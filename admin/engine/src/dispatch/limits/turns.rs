//! Runs that keep limits: they wait in the line of the gate, and go on when it is their turn.

use crate::dispatch::dispatcher::{Dispatcher, Tick};
use crate::dispatch::route::router::is_to_be_split;
use crate::dispatch::stages::{AdmittedRun, RoutedRun};
use carillon_store::run::adopt::ClaimedRun;

impl Dispatcher {
    /// The runs whose turn it is, as far as they are in the ring.
    pub(in crate::dispatch) async fn take_turns(&self, tick: &mut Tick) -> Vec<ClaimedRun> {
        let chosen = self.limits.take_turns().await;
        let runs = if chosen.is_empty() { vec![] } else { self.queue.take(&chosen) };
        tick.turns.extend(chosen);
        runs
    }

    /// On to its executor, or first to the limits that it keeps. A fire that becomes several runs needs no slot, each of these does.
    pub(in crate::dispatch) fn go(&self, admitted: AdmittedRun, tick: &mut Tick) {
        match self.limits.concerns(&admitted.job) && !is_to_be_split(&admitted.run, &admitted.job) {
            true => tick.limited.push(admitted),
            false => self.route(admitted, tick),
        }
    }

    /// Those whose turn it is go on; the others wait for theirs.
    pub(in crate::dispatch) async fn route_limited(&self, tick: &mut Tick) {
        let limited = self.limits.with_slots(std::mem::take(&mut tick.limited)).await;
        let mut has_parked = false;
        for admitted in limited {
            match &admitted.slots {
                Some(slots) if !tick.turns.contains(&admitted.run.run_id) => {
                    tick.report.waiting += 1;
                    has_parked = true;
                    self.limits.park(admitted.run, &admitted.job, slots.clone());
                }
                _ => self.route(admitted, tick),
            }
        }
        if has_parked {
            self.limits.wake();
        }
    }

    /// Their slots were thought to be free, and another node was quicker.
    pub(in crate::dispatch) fn wait_for_slots(&self, runs: Vec<RoutedRun>, tick: &mut Tick) {
        if runs.is_empty() {
            return;
        }
        tick.report.waiting += runs.len();
        let run_ids: Vec<i64> = runs.iter().map(|routed| routed.run.run_id).collect();
        for RoutedRun { run, slots, decision, .. } in runs {
            if let Some(slots) = slots {
                self.limits.park(run, &decision.job, slots);
            }
        }
        self.limits.was_outrun(&run_ids);
    }
}
