//! Declared jobs whose key is gone from the declaration that counts. They are shown and stay; a program that enforces its declaration
//! has them paused. None is deleted.

use std::collections::BTreeSet;

use carillon_engine::Error;
use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::app::declared::declarations::Declaration;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::{DeclaredState, Job, PauseNote};
use serde::Deserialize;

use crate::job::PAUSED;
use crate::reconciler::{PLACE_CHARS, Reconciler, cut};

/// An orphan is paused after this time: a deployment that is taken back within it stops nothing.
const PAUSE_AFTER_MS: Millis = 15 * 60 * 1_000;

/// The keys of a declaration.
#[derive(Deserialize)]
struct Keys {
    jobs: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    key: String,
}

impl Reconciler<'_> {
    /// `live`: all declarations that live executors announce. What one of them declares is no orphan, and none is found while one of them
    /// was refused, as its keys are not known.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn orphans(&mut self, live: &[Declaration]) -> store::Result<()> {
        let own: BTreeSet<&str> = self.declared_keys();
        let mut orphans: Vec<DeclaredJob> =
            self.rows.values().filter(|row| !own.contains(row.job_key.as_str())).cloned().collect();
        if orphans.is_empty() || live.iter().any(|it| !it.problem.is_empty()) {
            return Ok(());
        }
        // One after another: each may have a megabyte.
        for declaration in live.iter().skip(1) {
            let text = self.engine.cx.store.declarations().definition(self.app.id, &declaration.digest).await?;
            let Some(Ok(Keys { jobs })) = text.map(|text| serde_json::from_str(&text)) else { return Ok(()) };
            let keys: BTreeSet<String> = jobs.into_iter().map(|job| job.key).collect();
            orphans.retain(|row| !keys.contains(&row.job_key));
        }
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
        // What was deleted, has moved or is defined by files is not of the code any more.
        let Some(job) = job.filter(|job| self.is_of_code(job)) else {
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
        // The policy of the build that declared it: another program of the app has no say in it.
        let is_enforced = row.policy == "enforce" && self.may_write;
        if is_enforced && program(&row.build) == program(&self.declaration.build) && orphan.problem.is_empty() {
            match since + PAUSE_AFTER_MS <= self.now {
                // Once: a person who resumes it has decided.
                true => orphan.problem = self.paused(&job).await?,
                false => self.is_open = true,
            }
        }
        if orphan != row {
            declarations.write_job(self.app.id, &row.job_key, &orphan).await?;
            self.rows.insert(orphan.job_key.clone(), orphan);
        }
        Ok(())
    }

    /// Pauses an orphan. What is noted of it; empty: it is tried again.
    async fn paused(&mut self, job: &Job) -> store::Result<String> {
        if !job.draft.enabled {
            return Ok("not paused: it was paused before".to_owned());
        }
        let note = format!("no longer declared by build {}", cut(&self.declaration.build, PLACE_CHARS));
        let note = note.trim().to_owned();
        let pause = PauseNote { note: note.clone(), ends_at: None };
        match self.engine.jobs().pause(job.id, pause, &self.actor).await {
            Ok(_) => {
                self.written += 1;
                Ok(format!("{PAUSED}{note}"))
            }
            Err(Error::Store(error)) => Err(error),
            Err(error) => {
                tracing::warn!(job.id = job.id, %error, "a job that is no longer declared could not be paused");
                self.is_open = true;
                Ok(String::new())
            }
        }
    }
}

/// The packages that a build is named by, without their versions.
fn program(build: &str) -> Vec<&str> {
    build.split(", ").map(|package| package.rsplit_once(' ').map_or("", |(name, _)| name)).collect()
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_program_is_known_by_its_packages() {
        assert_eq!(program("billing 4.2.1, invoices 1.0.0"), program("billing 5.0.0, invoices 1.0.1"));
        assert_ne!(program("billing 4.2.1"), program("batch 4.2.1"));
        assert_eq!(program("4.2.1"), program("2026-11-28"), "nothing but versions");
    }
}
