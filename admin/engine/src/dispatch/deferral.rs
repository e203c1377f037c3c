//! Runs that find no room at the executors of their app wait in the ring, and go on when one has room again.

use foldhash::HashSet;

use carillon_scheduler::Millis;
use carillon_store::run::adopt::ClaimedRun;

use crate::dispatch::dispatcher::{Dispatcher, Tick};
use crate::dispatch::stages::{AdmittedRun, BATCH, place_of};

/// When a run that found no room is looked at again at the latest.
const DEFERRED_MS: Millis = 1_000;

impl Dispatcher {
    /// Until an executor of its app has room.
    pub(in crate::dispatch) fn defer(&self, admitted: AdmittedRun) {
        let until = self.cx.clock.now() + DEFERRED_MS;
        let AdmittedRun { run, job, .. } = admitted;
        let place = place_of(&run, &job);
        self.queue.defer(run, &job.stored.app, place, until);
    }

    /// Those of these apps that found no room before, 500 of each: an executor of theirs has room again.
    pub(in crate::dispatch) fn take_deferred(&self, freed: &HashSet<String>) -> Vec<ClaimedRun> {
        freed.iter().flat_map(|app| self.queue.take_deferred(app, BATCH)).collect()
    }

    /// The deferred runs that are left come with the next tick, unless this one has shown that it would be in vain.
    pub(in crate::dispatch) fn go_on(&self, freed: &HashSet<String>, tick: &Tick) {
        let is_open = |app: &&String| !tick.saturated.has_named(app) && !tick.stalled.contains(*app);
        if tick.report.sent > 0 {
            let open = freed.iter().filter(is_open).filter(|app| self.queue.has_deferred(app));
            open.for_each(|app| self.router.addresses.freed.add(app));
        }
    }
}
