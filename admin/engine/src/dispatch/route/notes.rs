//! What is stored of the choices of a batch after its marks.

use std::sync::Arc;

use carillon_scheduler::Millis;
use foldhash::HashMap;

use crate::dispatch::route::candidate_set::CandidateSet;
use crate::dispatch::stages::RoutedRun;

/// What is kept of the choices of a batch, after its marks: no run waits for it, and losing it in a crash costs a name in
/// a list, or one run of a sticky job that goes back to the executor before.
#[derive(Default)]
pub struct RouteNotes {
    pub sets: HashMap<i64, Arc<CandidateSet>>,
    /// By job: the latest address.
    pub sticky: HashMap<i64, String>,
}

impl RouteNotes {
    pub fn add_run(&mut self, RoutedRun { run, candidates, decision, .. }: &RoutedRun, now: Millis) {
        if !decision.set.is_kept(now) {
            self.sets.insert(decision.set.id, decision.set.clone());
        }
        if decision.moves {
            self.sticky.insert(run.job_id, candidates[0].address.clone());
        }
    }
}
