//! The limits that jobs name. An app's own limit goes before a shared one of the same name.

use std::collections::BTreeSet;

use carillon_scheduler::FieldError;
use foldhash::HashMap;
use sea_orm::ConnectionTrait;

use crate::app::limits::rules::LimitRule;
use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::job::labels::limit_names::names_of;
use crate::job::stored_job::Job;
use crate::run::lock::LockMode;
use crate::views::LimitStore;

impl LimitStore<'_> {
    /// Holds the limits that these jobs name until the end of the transaction: none of them can be deleted meanwhile. In the order of their
    /// ids, as a mark does. Called last: meanwhile no run takes a slot of them.
    ///
    /// # Errors
    /// `Refused`, if one of them does not exist, or is another app's.
    pub(crate) async fn hold_named(self, tx: &Transaction, jobs: &[Job]) -> Result<()> {
        let naming = || jobs.iter().enumerate().filter(|(_, job)| !job.draft.limits.is_empty());
        if naming().next().is_none() {
            return Ok(());
        }
        let all: Vec<(i64, i64, String)> = self.tuples(tx, "SELECT id, app_id, name FROM limit_rule", vec![]).await?;
        let by_name: HashMap<(i64, &str), i64> =
            all.iter().map(|(id, app, name)| ((*app, name.as_str()), *id)).collect();
        // An app's own one and the shared one of the name: the own one may be deleted later.
        let ids_of = |job: &Job, name: &str| [0, job.app_id].map(|app| by_name.get(&(app, name)).copied());
        let all_names = naming().flat_map(|(_, job)| job.draft.limits.iter().map(move |name| (job, name)));
        let wanted: BTreeSet<i64> = all_names.flat_map(|(job, name)| ids_of(job, name)).flatten().collect();
        let wanted: Vec<i64> = wanted.into_iter().collect();
        let (held, _) = self.lock_rules(tx, &wanted, LockMode::Wait).await?;
        for (index, job) in naming() {
            let is_there = |name: &String| ids_of(job, name).iter().flatten().any(|id| held.contains_key(id));
            if let Some(name) = job.draft.limits.iter().find(|name| !is_there(name)) {
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
