//! The secrets that drafts name in their parameters: they are there when a job is saved.

use std::collections::BTreeSet;

use carillon_scheduler::{FieldError, JobDraft};
use carillon_store::lease::nodes::SECRET_PARAMS;
use carillon_store::{App, Job};
use foldhash::{HashMap, HashMapExt as _};

use crate::engine::Engine;
use crate::manage::error::Error;
use crate::manage::jobs::older_nodes::node_without;

/// Looked up only if a draft names a secret.
pub(super) struct KnownSecrets {
    /// By app.
    names: HashMap<i64, BTreeSet<String>>,
    /// The address of a live node that would send the names in place of the values.
    behind: Option<String>,
}

impl KnownSecrets {
    pub async fn new(engine: &Engine, drafts: &[JobDraft], apps: impl Iterator<Item = &App>) -> Result<Self, Error> {
        let mut known = Self { names: HashMap::new(), behind: None };
        if drafts.iter().all(|draft| draft.secret_names().is_empty()) {
            return Ok(known);
        }
        known.behind = node_without(engine, SECRET_PARAMS).await?;
        for app in apps {
            let names = engine.cx.store.apps().secret_names(app.id).await?;
            known.names.insert(app.id, names.into_iter().map(|secret| secret.name).collect());
        }
        Ok(known)
    }

    /// What is wrong with the parameters of a draft. `before`: the job that it changes.
    pub fn error(&self, draft: &JobDraft, app: &App, before: Option<&Job>) -> Option<FieldError> {
        let names = draft.secret_names();
        let own = self.names.get(&app.id);
        if let Some(unknown) = names.iter().find(|name| own.is_none_or(|own| !own.contains(**name))) {
            let message = format!("names the secret {unknown}, which the app {} does not have", app.name);
            return Some(FieldError::new("params", message));
        }
        let is_kept = before.is_some_and(|job| job.draft.params == draft.params);
        let address = self.behind.as_ref().filter(|_| !names.is_empty() && !is_kept)?;
        let message = format!("cannot name a secret while {address} is of an earlier version, which cannot send it");
        Some(FieldError::new("params", message))
    }
}
