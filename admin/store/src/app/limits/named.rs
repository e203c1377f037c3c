//! The limits that jobs name. An app's own limit goes before a shared one of the same name.

use carillon_scheduler::FieldError;
use sea_orm::ConnectionTrait;

use crate::app::limits::rules::LimitRule;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::Conditions;
use crate::error::{Error, Result};
use crate::job::stored_job::Job;
use crate::views::LimitStore;

impl LimitStore<'_> {
    /// Holds the limits that these jobs name until the end of the transaction: none of them can be deleted meanwhile.
    ///
    /// # Errors
    /// `Refused`, if one of them does not exist, or is another app's.
    pub(crate) async fn hold_named(self, tx: &Transaction, jobs: &[Job]) -> Result<()> {
        for (index, job) in jobs.iter().enumerate().filter(|(_, job)| !job.draft.limits.is_empty()) {
            let mut conditions = Conditions::default();
            conditions.among("name", job.draft.limits.iter().map(String::as_str));
            conditions.among("app_id", [0, job.app_id]);
            let (filter, values) = conditions.finish();
            let text = format!("SELECT name FROM limit_rule{filter} ORDER BY id{{for_update}}");
            let found: Vec<String> = self.tuples(tx, &text, values).await?;
            if let Some(name) = job.draft.limits.iter().find(|name| !found.contains(name)) {
                let field = if jobs.len() == 1 { "limits".to_owned() } else { format!("[{index}].limits") };
                let message = format!("there is no limit {name:?} of app {}, and no shared one", job.draft.app);
                return Err(Error::Refused(FieldError::new(field, message)));
            }
        }
        Ok(())
    }

    /// Ids and names of the jobs that name a limit, by id.
    pub async fn users(self, rule: &LimitRule) -> Result<Vec<(i64, String)>> {
        self.users_in(&self.read, rule).await
    }

    pub(crate) async fn users_in(self, db: &impl ConnectionTrait, rule: &LimitRule) -> Result<Vec<(i64, String)>> {
        let text = "SELECT id, name, app_id, limits FROM job WHERE limits IS NOT NULL ORDER BY id";
        let rows: Vec<(i64, String, i64, String)> = self.tuples(db, text, vec![]).await?;
        let names_it = |(_, _, app_id, limits): &(i64, String, i64, String)| {
            rule.app_id.is_none_or(|own| own == *app_id) && names_of(limits).contains(&rule.name)
        };
        Ok(rows.into_iter().filter(names_it).map(|(id, name, ..)| (id, name)).collect())
    }
}

/// What is stored of the limits that a job names.
pub fn names_of(limits: &str) -> Vec<String> {
    serde_json::from_str(limits).unwrap_or_default()
}
