//! Declared jobs whose key is gone from the declaration that counts. They are shown and stay; a program that enforces its declaration
//! has them paused. None is deleted.

use std::collections::BTreeSet;

use carillon_engine::Error;
use carillon_protocol::{self as wire, DeclarePolicy};
use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::{DeclaredState, PauseNote};

use crate::reconciler::Reconciler;

/// An orphan is paused after this time: a deployment that is taken back within it stops nothing.
const PAUSE_AFTER_MS: Millis = 15 * 60 * 1_000;

impl Reconciler<'_> {
    /// `live`: all declarations that live executors announce. What one of them declares is no orphan.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn orphans(&mut self, live: &[wire::Declaration]) -> store::Result<()> {
        let declared: BTreeSet<&str> =
            live.iter().flat_map(|declaration| &declaration.jobs).map(|job| job.key.as_str()).collect();
        let own = self.keys();
        let gone = |row: &&DeclaredJob| !own.contains(row.job_key.as_str()) && !declared.contains(row.job_key.as_str());
        let orphans: Vec<DeclaredJob> = self.rows.values().filter(gone).cloned().collect();
        for row in orphans {
            self.orphan(row).await?;
        }
        Ok(())
    }

    async fn orphan(&mut self, row: DeclaredJob) -> store::Result<()> {
        let declarations = self.engine.cx.store.declarations();
        let job = match row.job_id {
            Some(id) => self.engine.cx.store.jobs().with_ids(&[id]).await?.pop(),
            None => None,
        };
        let Some(job) = job else {
            self.rows.remove(&row.job_key);
            return declarations.forget_job(self.app.id, &row.job_key).await;
        };
        let since = row.orphan_at.unwrap_or(self.now);
        let mut orphan = DeclaredJob {
            state: DeclaredState::Orphan,
            orphan_at: Some(since),
            changed_at: since,
            report: "[]".to_owned(),
            ..row.clone()
        };
        if row.state != DeclaredState::Orphan {
            orphan.problem = String::new();
        }
        let is_enforced = self.declaration.policy == DeclarePolicy::Enforce && self.may_write;
        // Once: a person who resumes it has decided.
        if is_enforced && orphan.problem.is_empty() && since + PAUSE_AFTER_MS <= self.now {
            let note = format!("no longer declared by build {}", self.declaration.build);
            if job.draft.enabled {
                let pause = PauseNote { note: note.clone(), ends_at: None };
                match self.engine.jobs().pause(job.id, pause, &self.actor).await {
                    Ok(_) => self.written += 1,
                    Err(Error::Store(error)) => return Err(error),
                    Err(error) => {
                        tracing::warn!(job.id = job.id, %error, "a job that is no longer declared could not be paused")
                    }
                }
            }
            orphan.problem = format!("paused: {note}");
        }
        if orphan != row {
            declarations.write_job(self.app.id, &row.job_key, &orphan).await?;
            self.rows.insert(orphan.job_key.clone(), orphan);
        }
        Ok(())
    }
}
