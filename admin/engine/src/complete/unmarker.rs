//! Requests that were certainly not written: their runs go back from `sending` to `claimed`, and into the ring. Apart from
//! the results: a job that is locked by an edit holds up its own runs alone.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use crate::Pipeline;
use crate::runtime::Service;
use crate::settings::ms;
use crate::store::run::adopt::Waiting;
use crate::store::run::unmark::Unsent;

/// Runs, each with the token of its mark.
#[derive(Default)]
pub struct GivenBack {
    runs: Mutex<Vec<(Waiting, i64)>>,
    wake: Arc<Notify>,
}

/// Runs of one write.
const BATCH: usize = 500;

impl GivenBack {
    fn runs(&self) -> MutexGuard<'_, Vec<(Waiting, i64)>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, run: Waiting, token: i64) {
        self.runs().push((run, token));
        self.wake.notify_one();
    }

    /// They stay here while they are written.
    pub fn run_ids(&self) -> HashSet<i64> {
        self.runs().iter().map(|(run, _)| run.run_id).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.runs().is_empty()
    }
}

pub struct GiveBack(pub Arc<Pipeline>);

#[async_trait]
impl Service for GiveBack {
    fn name(&self) -> &'static str {
        "give back"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.0.given_back.wake.clone())
    }

    fn linger(&self) -> Duration {
        Duration::from_millis(5)
    }

    async fn step(&self) -> Duration {
        let waiting = self.0.given_back.runs().clone();
        let mut parts: Vec<&[(Waiting, i64)]> = waiting.chunks(BATCH).collect();
        let mut all = true;
        while let Some(part) = parts.pop() {
            match self.write(part).await {
                Ok(done) => all &= done,
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
        match all {
            true => Duration::from_secs(1),
            false => Duration::from_millis(200),
        }
    }
}

impl GiveBack {
    /// False: some are held up by another session.
    async fn write(&self, part: &[(Waiting, i64)]) -> crate::store::Result<bool> {
        let unsent: Vec<Unsent> = part
            .iter()
            .map(|(run, token)| Unsent { run_id: run.run_id, token: *token, bound: run.bound_to.is_some() })
            .collect();
        let unmarked = self.0.store.unmark(&unsent, self.0.clock.now()).await?;
        // One that was settled or cancelled meanwhile is refused by its mark.
        let again_at = self.0.clock.now() + ms(self.0.settings.tick_every);
        let is_back = |(run, _): &&(Waiting, i64)| !unmarked.held_up.contains(&run.run_id);
        let back: Vec<_> = part.iter().filter(is_back).collect();
        let marks: HashSet<_> = back.iter().map(|(run, token)| (run.run_id, *token)).collect();
        let mut waiting = self.0.given_back.runs();
        waiting.retain(|(run, token)| !marks.contains(&(run.run_id, *token)));
        drop(waiting);
        for (run, _) in back {
            self.0.put_in_ring(run.clone(), again_at);
        }
        Ok(unmarked.held_up.is_empty())
    }
}
