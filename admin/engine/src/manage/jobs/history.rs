//! The definitions that a job has had, and the way back to one.

use carillon_scheduler::{FieldError, JobDraft};
use carillon_store::job::revisions::Revision;
use carillon_store::{Actor, Job, VisibleApps};
use serde_json::Value;

use crate::manage::entry_points::Jobs;
use crate::manage::error::Error;

/// What it would mean to restore a former definition.
pub struct Restorable {
    pub job: Job,
    /// The members that would change: `before`, as they are, and `after`.
    pub difference: Value,
    /// It has another script than the job, which needs the right to scripts and a confirmed actor.
    pub brings_script: bool,
    /// Why the definition cannot be used any more.
    pub wrong: Vec<FieldError>,
}

impl Jobs<'_> {
    /// The changes of a job, the newest first; not those of a time in which it belonged to an app that the actor does not see.
    ///
    /// # Errors
    /// `Missing`
    pub async fn history(&self, id: i64, by: &Actor) -> Result<(Job, Vec<Revision>), Error> {
        let job = self.get(id).await?;
        let store = &self.engine.cx.store;
        let apps = match by.grants.visible_apps() {
            VisibleApps::All => None,
            visible => Some(store.apps().list(&visible).await?.into_iter().map(|app| app.name).collect::<Vec<_>>()),
        };
        let revisions = store.jobs().revisions(&job, apps.as_deref()).await?;
        Ok((job, revisions))
    }

    /// Gives a job a definition that it has had, as a new revision. It is checked as any edit is; whether the schedule fires stays
    /// as it is. `expected`: the revision that the caller has read.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Changed`; `Invalid` or `Unusable`, if the former definition cannot be used any more
    pub async fn restore(&self, id: i64, revision: i64, expected: Option<i64>, by: &Actor) -> Result<Job, Error> {
        let (job, found) = self.former(id, revision, by).await?;
        let draft = self.engine.cx.store.jobs().former_draft(&job, &found).await?;
        self.update(id, &draft, Some(expected.unwrap_or(job.revision)), by).await
    }

    /// What [`Self::restore`] would change.
    ///
    /// # Errors
    /// `Missing`
    pub async fn restorable(&self, id: i64, revision: i64, by: &Actor) -> Result<Restorable, Error> {
        let (job, found) = self.former(id, revision, by).await?;
        let draft = self.engine.cx.store.jobs().former_draft(&job, &found).await.map_err(Error::from);
        let version = |draft: &JobDraft| draft.script.as_ref().and_then(|script| script.version);
        let brings_script = draft.as_ref().is_ok_and(|it| it.script.is_some() && version(it) != version(&job.draft));
        let checked = match draft {
            Ok(draft) => self.check(&draft, Some(&job), by).await,
            Err(error) => Err(error),
        };
        let wrong = match checked {
            Ok(()) => vec![],
            Err(Error::Invalid(errors)) => errors,
            Err(error) => return Err(error),
        };
        let difference = found.difference_from(&job).unwrap_or_default();
        Ok(Restorable { difference, brings_script, wrong, job })
    }

    async fn former(&self, id: i64, revision: i64, by: &Actor) -> Result<(Job, Revision), Error> {
        let (job, revisions) = self.history(id, by).await?;
        let found = revisions.into_iter().find(|it| it.number == Some(revision));
        let found = found.ok_or_else(|| Error::Missing(format!("revision {revision} of job {id}")))?;
        Ok((job, found))
    }
}
