//! The schedule of a job is stopped and started.

use carillon_accounts::policy::Action;
use carillon_scheduler::Millis;
use carillon_store::job::change::JobChange;
use carillon_store::{Actor, Job, PauseNote, TargetJob};

use crate::manage::entry_points::Jobs;
use crate::manage::error::Error;
use crate::manage::pauses::{wrong_end, wrong_note};

impl Jobs<'_> {
    /// Stops the schedule of a job; its runs that were not sent yet are cancelled. With an end the job is resumed then, and what
    /// it has missed is left to its misfire policy. A job that is paused gets the note and the end, if there is one of them.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `Invalid`: the note or the end
    pub async fn pause(&self, id: i64, note: PauseNote, by: &Actor) -> Result<Job, Error> {
        let job = self.engine.require_for_job(by, Action::Operate, id).await?;
        let note = check_pause(note, self.engine.cx.clock.now())?;
        self.change(job, &JobChange::Pause(note), by).await
    }

    /// Starts the schedule of a job now; after a pause by the engine it goes on where it stopped.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `Unusable`, if the stored schedule cannot be used
    pub async fn resume(&self, id: i64, by: &Actor) -> Result<Job, Error> {
        let job = self.engine.require_for_job(by, Action::Operate, id).await?;
        self.change(job, &JobChange::Enable, by).await
    }

    async fn change(&self, job: TargetJob, change: &JobChange, by: &Actor) -> Result<Job, Error> {
        let changed = self.engine.cx.store.jobs().change(job, change, self.engine.cx.clock.now(), by).await?;
        self.engine.job_changed(changed.job.shard);
        Ok(changed.job)
    }
}

/// # Errors
/// `Invalid`: the note or the end
pub(super) fn check_pause(pause: PauseNote, now: Millis) -> Result<PauseNote, Error> {
    let note = pause.note.trim().replace("\r\n", "\n");
    let wrong: Vec<_> =
        wrong_note(&note).into_iter().chain(pause.ends_at.and_then(|end| wrong_end("until", end, now))).collect();
    if wrong.is_empty() { Ok(PauseNote { note, ..pause }) } else { Err(Error::Invalid(wrong)) }
}
