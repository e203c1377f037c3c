//! Keys: the names by which programs and files know jobs, unique in an app.

use std::collections::BTreeSet;

use carillon_scheduler::FieldError;
use foldhash::HashMap;
use sea_orm::ConnectionTrait;

use crate::db::sql::filter::Conditions;
use crate::error::{Error, Result};
use crate::job::stored_job::Job;
use crate::views::JobStore;

impl JobStore<'_> {
    /// The job of an app with this key.
    pub async fn id_with_key(self, app_id: i64, key: &str) -> Result<Option<i64>> {
        self.tuple(&self.read, "SELECT id FROM job WHERE app_id = ? AND job_key = ?", values![app_id, key]).await
    }

    /// # Errors
    /// `Refused`: another job has the key of one of these, or two of them have the same.
    pub(crate) async fn refuse_taken_keys(self, db: &impl ConnectionTrait, jobs: &[Job]) -> Result<()> {
        let keyed = || jobs.iter().enumerate().filter(|(_, job)| !job.draft.key.is_empty());
        if keyed().next().is_none() {
            return Ok(());
        }
        let mut conditions = Conditions::default();
        conditions.among("app_id", keyed().map(|(_, job)| job.app_id).collect::<BTreeSet<_>>());
        conditions.among("job_key", keyed().map(|(_, job)| job.draft.key.clone()));
        let (filter, values) = conditions.finish();
        let text = format!("SELECT app_id, job_key, id FROM job{filter}");
        let found: Vec<(i64, String, i64)> = self.tuples(db, &text, values).await?;
        let mut taken: HashMap<(i64, String), i64> = found.into_iter().map(|(app, key, id)| ((app, key), id)).collect();
        for (index, job) in keyed() {
            let key = &job.draft.key;
            if let Some(other) = taken.insert((job.app_id, key.clone()), job.id).filter(|other| *other != job.id) {
                let field = if jobs.len() > 1 { format!("[{index}].key") } else { "key".to_owned() };
                let app = &job.draft.app;
                return Err(Error::Refused(FieldError::new(
                    field,
                    format!("job {other} of app {app} has the key {key:?}"),
                )));
            }
        }
        Ok(())
    }
}
