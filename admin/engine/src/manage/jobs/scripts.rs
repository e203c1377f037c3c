//! Scripts of jobs: who may read and write them, and the sources that drafts name by their version.

use std::slice;

use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::{JobDraft, Millis};
use carillon_store::ScriptVersion;
use carillon_store::{Actor, AuditObject, Definition, Job};

use crate::engine::Engine;
use crate::manage::authorize::require;
use crate::manage::entry_points::Jobs;
use crate::manage::error::Error;

const SWITCHED_OFF: &str = "script jobs are switched off on this server (--scripts)";
const UNCONFIRMED: &str = "give your password with a new script; the page Script of the job asks for it";

impl Jobs<'_> {
    /// The versions of a job's script that are kept, the newest first.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`
    pub async fn scripts(&self, id: i64, by: &Actor) -> Result<Vec<ScriptVersion>, Error> {
        self.engine.require_for_job(by, Action::Script, id).await?;
        Ok(self.engine.cx.store.jobs().script_versions(id).await?)
    }

    /// A version of a job's script, with its source.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`: the job, or the version is not kept
    pub async fn script(&self, id: i64, version: Millis, by: &Actor) -> Result<(ScriptVersion, String), Error> {
        let missing = || Error::Missing(format!("version {version} of the script of job {id}"));
        let versions = self.scripts(id, by).await?;
        let found = versions.into_iter().find(|it| it.version == version).ok_or_else(missing)?;
        let source = self.engine.cx.store.jobs().script_source(id, version).await?.ok_or_else(missing)?;
        Ok((found, source))
    }
}

impl Engine {
    /// Puts the source of the version that a draft names in the draft, where that is not the current one: the script of before is
    /// restored.
    ///
    /// # Errors
    /// `Invalid`: the version is not kept.
    pub(super) async fn add_named_sources(&self, drafts: &mut [JobDraft], before: Option<&Job>) -> Result<(), Error> {
        let current = before.and_then(|job| job.draft.script.as_ref()?.version);
        for (draft, job) in drafts.iter_mut().zip(before) {
            let Some(script) = draft.script.as_mut().filter(|script| script.source.is_none()) else { continue };
            let Some(version) = script.version.filter(|version| Some(*version) != current) else { continue };
            let found = self.cx.store.jobs().script_source(job.id, version).await?;
            script.source = Some(found.ok_or_else(|| Error::field("script.version", "is not kept any more"))?);
        }
        Ok(())
    }

    /// The same of one draft.
    ///
    /// # Errors
    /// `Invalid`: the version is not kept.
    pub(super) async fn with_named_source(&self, draft: &JobDraft, before: Option<&Job>) -> Result<JobDraft, Error> {
        let mut draft = draft.clone();
        self.add_named_sources(slice::from_mut(&mut draft), before).await?;
        Ok(draft)
    }

    /// Before a definition is saved: one with a new script, or one that brings a script to another app, needs the right to scripts
    /// there, and the switch of the server.
    ///
    /// # Errors
    /// `Forbidden`
    pub(super) fn require_scripts(
        &self,
        definition: &Definition,
        before: Option<&Job>,
        by: &Actor,
    ) -> Result<(), Error> {
        let moves = before.is_none_or(|job| job.app_id != definition.app_id());
        if !(definition.has_new_script() || definition.has_script() && moves) {
            return Ok(());
        }
        if !self.cx.settings.scripts {
            return Err(Error::Forbidden(SWITCHED_OFF.to_owned()));
        }
        require(by, Action::Script, Object::App(definition.app_id()), || format!("app {}", definition.app()))?;
        if by.is_unconfirmed {
            by.denials.add(AuditObject::app(definition.app_id()));
            return Err(Error::Forbidden(UNCONFIRMED.to_owned()));
        }
        Ok(())
    }
}
