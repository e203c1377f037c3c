//! Whether a job may be saved as a best-effort job, which fires by its schedule alone.

use carillon_scheduler::{FieldError, JobDraft};
use carillon_store::Job;

use crate::engine::Engine;
use crate::manage::error::Error;

pub(super) struct BestEffortCheck {
    /// The first job that starts the one that the draft changes.
    starter: Option<i64>,
}

impl BestEffortCheck {
    pub async fn new(engine: &Engine, drafts: &[JobDraft], before: Option<&Job>) -> Result<Self, Error> {
        let changed = before.filter(|_| drafts.iter().any(JobDraft::is_best_effort));
        let starter = match changed {
            Some(job) => starter_of(engine, job.id).await?,
            None => None,
        };
        Ok(Self { starter })
    }

    pub fn errors(&self, draft: &JobDraft) -> Vec<FieldError> {
        if !draft.is_best_effort() {
            return vec![];
        }
        let started = self.starter.map(|job| {
            let text = format!("job {job} starts this one; a best-effort job fires by its schedule alone");
            FieldError::new("durability", text)
        });
        started.into_iter().collect()
    }
}

/// A job that has this one as a child or as a node.
async fn starter_of(engine: &Engine, job_id: i64) -> Result<Option<i64>, Error> {
    if let Some(parent) = engine.cx.store.jobs().parents_of(&[job_id]).await?.first() {
        return Ok(Some(*parent));
    }
    Ok(engine.cx.store.workflows().users_of(job_id).await?.first().map(|(id, _)| *id))
}
