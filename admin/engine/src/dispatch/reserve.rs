//! A place at the first candidate that has room.

use carillon_scheduler::RouteStrategy;

use crate::dispatch::route::decision::note;
use crate::dispatch::route::router::Router;
use crate::dispatch::stages::{OrderedRun, RouteStep, RoutedRun};
use crate::executor::address_gate::{Reservation, SlotDenied};

const SATURATED: &str = "saturated";
const BROKEN: &str = "did not answer lately";

impl Router {
    /// The first candidate that has room gets the run; without one the run waits, or has no executor.
    pub fn reserve(&self, ordered: OrderedRun) -> Result<RoutedRun, Box<RouteStep>> {
        let monotonic = self.cx.clock.monotonic();
        let has_affinity = ordered.decision.has_affinity();
        let mut passed = Vec::new();
        // First where something moves, then behind others that wait.
        for behind_others in [has_affinity, true] {
            passed.clear();
            for (index, candidate) in ordered.candidates.iter().enumerate() {
                let address = self.addresses.get(&candidate.app, &candidate.address);
                if !behind_others && address.is_stalled(monotonic) {
                    passed.push((index, "stalled"));
                    continue;
                }
                match address.try_reserve(monotonic, candidate.capacity(&self.cx.settings)) {
                    Ok(reservation) => {
                        let is_stalled = behind_others && address.is_stalled(monotonic);
                        let routed = self.routed(ordered, index, reservation, &passed);
                        return Ok(RoutedRun { is_stalled, ..routed });
                    }
                    Err(SlotDenied::Saturated) if has_affinity => {
                        return Err(Box::new(self.no_room(ordered, &[(index, SATURATED)])));
                    }
                    Err(SlotDenied::Saturated) => passed.push((index, SATURATED)),
                    Err(SlotDenied::Broken) => passed.push((index, BROKEN)),
                }
            }
        }
        Err(Box::new(self.no_room(ordered, &passed)))
    }

    fn routed(
        &self,
        ordered: OrderedRun,
        index: usize,
        reservation: Reservation,
        passed: &[(usize, &'static str)],
    ) -> RoutedRun {
        let OrderedRun { admitted, mut candidates, mut decision } = ordered;
        for (index, why) in passed {
            decision.trace().skipped.push(note(&candidates[*index].address, why));
        }
        // Most runs take the first.
        if index > 0 {
            candidates.drain(..index);
        }
        let (run, address) = (admitted.run, &candidates[0].address);
        if let Some(strategy) = decision.strategy() {
            decision.moves = self.memory.record_use(strategy, &run, address);
            if strategy == RouteStrategy::LeastActive {
                self.counts.add_routed(address);
            }
        }
        RoutedRun { run, admission: admitted.admission, candidates, reservation, is_stalled: false, decision }
    }

    fn no_room(&self, ordered: OrderedRun, passed: &[(usize, &'static str)]) -> RouteStep {
        let OrderedRun { admitted, candidates, mut decision } = ordered;
        self.cx.metrics.saturated.inc();
        if self.may_still_wait(&admitted.job, &admitted.run) {
            return RouteStep::Full(admitted);
        }
        for (index, why) in passed {
            decision.trace().skipped.push(note(&candidates[*index].address, why));
        }
        let saturated = passed.iter().filter(|(_, why)| *why == SATURATED).count();
        let broken = passed.len() - saturated;
        let message = format!("no executor had room: {saturated} busy, {broken} did not answer lately");
        RouteStep::NoExecutor(admitted, message, Box::new(decision.into_trace()))
    }
}
