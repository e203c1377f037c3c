//! Requests that were certainly not written: their runs go back from `sending` to `claimed`, and into the ring. Apart from
//! the results: a job that is locked by an edit holds up its own runs alone.

use std::sync::Arc;
use std::time::Duration;

use foldhash::HashSet;
use tokio::sync::Notify;

use crate::complete::outcome_queue::OutcomeQueue;
use crate::context::Context;
use crate::dispatch::limits::gate::LimitGate;
use crate::plan::due_queue::DueQueue;
use crate::runtime::{Service, Step};
use crate::settings::ms;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::unmark::Unsent;

/// Runs of one write.
const BATCH: usize = 500;

pub struct Unmarker {
    pub cx: Arc<Context>,
    pub outcomes: Arc<OutcomeQueue>,
    pub queue: Arc<DueQueue>,
    pub limits: Arc<LimitGate>,
}

impl Service for Unmarker {
    const NAME: &'static str = "unmark";
    const LINGER: Duration = Duration::from_millis(5);
    /// Runs that are back in the queue.
    type Report = usize;

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.outcomes.unsent.wake.clone())
    }

    async fn step(&self) -> Step<usize> {
        let waiting: Vec<(ClaimedRun, i64)> = self.outcomes.unsent.runs.lock().values().cloned().collect();
        let mut parts: Vec<&[(ClaimedRun, i64)]> = waiting.chunks(BATCH).collect();
        let (mut all, mut did) = (true, 0);
        while let Some(part) = parts.pop() {
            match self.write(part).await {
                Ok((count, is_whole)) => {
                    all &= is_whole;
                    did += count;
                }
                Err(error) if part.len() == 1 || error.is_outage() => {
                    all = false;
                    tracing::warn!(%error, run.count = part.len(), "runs that were not sent could not be given back yet");
                    if error.is_outage() {
                        break;
                    }
                }
                Err(_) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
            }
        }
        Step { did, next: Duration::from_millis(if all { 1000 } else { 200 }) }
    }
}

impl Unmarker {
    /// How many are back, and whether those are all: some may be held up by another session.
    async fn write(&self, part: &[(ClaimedRun, i64)]) -> carillon_store::Result<(usize, bool)> {
        let unsent: Vec<Unsent> = part
            .iter()
            .map(|(run, token)| Unsent { run_id: run.run_id, token: *token, bound: run.bound_to.is_some() })
            .collect();
        let unmarked = self.cx.store.runs().unmark(&unsent, self.cx.clock.now()).await?;
        // One that was settled or cancelled meanwhile is refused by its mark.
        let again_at = self.cx.clock.now() + ms(self.cx.settings.tick_every);
        let is_back = |(run, _): &&(ClaimedRun, i64)| !unmarked.held_up.contains(&run.run_id);
        let back: Vec<_> = part.iter().filter(is_back).collect();
        let marks: HashSet<_> = back.iter().map(|(run, token)| (run.run_id, *token)).collect();
        let mut waiting = self.outcomes.unsent.runs.lock();
        waiting.retain(|run_id, (_, token)| !marks.contains(&(*run_id, *token)));
        drop(waiting);
        let count = back.len();
        for (run, _) in back {
            self.queue.insert(run.clone(), again_at);
        }
        if unmarked.freed > 0 {
            self.limits.freed();
        }
        Ok((count, unmarked.held_up.is_empty()))
    }
}
