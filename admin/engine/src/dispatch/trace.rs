//! How the executor of a run was chosen, until it is written down.
//!
//! The route and the set of candidates are two small columns of the mark. Only a run of which there is more to tell (an
//! answer to a probe, an executor that was passed over, a request that was not written) has a story; stories are
//! written beside the results, many at a time, and losing one in a crash loses nothing that decides anything.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use carillon_scheduler::RouteStrategy;

use crate::Pipeline;
use crate::dispatch::route::candidate_set;
use crate::dispatch::route::candidate_set::CandidateSet;
use crate::plan::job_cache::Job;
use crate::store::Store;
use crate::store::run::route::{Story, Told};

pub struct Choice {
    /// The definition by which it was made, and which its request carries.
    pub job: Arc<Job>,
    /// What the mark writes.
    pub route_code: i16,
    pub set: Arc<CandidateSet>,
    pub story: Option<Box<Story>>,
    /// Of a sticky job, and its last run went elsewhere.
    pub moves: bool,
}

impl Choice {
    pub fn story(&mut self) -> &mut Story {
        self.story.get_or_insert_default()
    }

    pub fn hop(&mut self, address: &str, what: &str) {
        self.story().hops.push(told(address, what));
    }

    /// For a run that ends without a mark: its row does not say what its candidates were.
    pub fn unmarked(mut self) -> Story {
        let mut story = *self.story.take().unwrap_or_default();
        story.route = RouteStrategy::from_code(self.route_code);
        story.candidates = self.set.addresses().to_vec();
        story
    }
}

pub fn told(address: &str, what: &str) -> Told {
    Told { address: address.to_owned(), what: what.to_owned() }
}

/// Stories of one write.
const BATCH: usize = 500;
/// Above so many that wait, new ones are dropped: they are for people to read.
const WAITING: usize = 10_000;

#[derive(Default)]
pub struct Stories(Mutex<Vec<(i64, String)>>);

impl Stories {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<(i64, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, run_id: i64, story: &Story) {
        let mut waiting = self.waiting();
        if waiting.len() < WAITING {
            waiting.push((run_id, serde_json::to_string(story).unwrap_or_default()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    /// Writes what waits; false if it has to be tried again.
    pub async fn write(&self, store: &Store) -> bool {
        let mut batch = {
            let mut waiting = self.waiting();
            let count = waiting.len().min(BATCH);
            waiting.drain(..count).collect::<Vec<_>>()
        };
        if batch.is_empty() {
            return true;
        }
        // One row a run, the latest; in the order of the key.
        batch.reverse();
        batch.sort_by_key(|(run_id, _)| *run_id);
        batch.dedup_by_key(|(run_id, _)| *run_id);
        match store.add_stories(&batch).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, run.count = batch.len(), "how executors were chosen could not be written yet");
                let mut waiting = self.waiting();
                batch.append(&mut waiting);
                batch.truncate(WAITING);
                *waiting = batch;
                false
            }
        }
    }
}

/// What is kept of the choices of a batch, after its marks: no run waits for it, and losing it in a crash costs a name in
/// a list, or one run of a sticky job that goes back to the executor before.
#[derive(Default)]
pub struct Notes {
    sets: HashMap<i64, Arc<CandidateSet>>,
    /// By job: the latest address.
    sticky: HashMap<i64, String>,
}

impl Notes {
    pub fn add(&mut self, job_id: i64, address: &str, choice: &Choice) {
        if !choice.set.is_kept() {
            self.sets.insert(choice.set.id, choice.set.clone());
        }
        if choice.moves {
            self.sticky.insert(job_id, address.to_owned());
        }
    }

    pub fn extend(&mut self, later: Self) {
        self.sets.extend(later.sets);
        self.sticky.extend(later.sticky);
    }

    pub async fn write(self, pipeline: &Pipeline) {
        if let Err(error) = candidate_set::keep(self.sets.values(), &pipeline.store).await {
            tracing::warn!(%error, set.count = self.sets.len(), "sets of candidates could not be kept yet");
        }
        let moved: Vec<(i64, String)> = self.sticky.into_iter().collect();
        let now = pipeline.clock.now();
        if let Err(error) = pipeline.store.set_sticky(&moved, now).await {
            tracing::warn!(%error, job.count = moved.len(), "where sticky jobs go could not be kept");
            for (job_id, _) in moved {
                pipeline.histories.forget(job_id);
            }
        }
    }
}
