//! The definitions that a job has had, and the way back to one.

use carillon_store::job::revisions::Revision;
use carillon_store::{Actor, Job, VisibleApps};

use crate::manage::error::Error;
use crate::manage::jobs::Jobs;

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
            visible => Some(store.apps(&visible).await?.into_iter().map(|app| app.name).collect::<Vec<_>>()),
        };
        let revisions = store.revisions(&job, apps.as_deref()).await?;
        Ok((job, revisions))
    }

    /// Gives a job a definition that it has had, as a new revision. It is checked as any edit is; whether the schedule fires stays
    /// as it is. `expected`: the revision that the caller has read.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Changed`; `Invalid` or `Unusable`, if the former definition cannot be used any more
    pub async fn restore(&self, id: i64, revision: i64, expected: Option<i64>, by: &Actor) -> Result<Job, Error> {
        let (job, revisions) = self.history(id, by).await?;
        let found = revisions.into_iter().find(|it| it.number == Some(revision));
        let found = found.ok_or_else(|| Error::Missing(format!("revision {revision} of job {id}")))?;
        let draft = found.draft(&job)?;
        self.update(id, &draft, Some(expected.unwrap_or(job.revision)), by).await
    }
}
