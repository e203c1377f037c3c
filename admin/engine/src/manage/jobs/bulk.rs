//! One action for many jobs.

use std::collections::{BTreeMap, BTreeSet};

use carillon_accounts::policy::{Action, Object};
use carillon_accounts::secret::hash;
use carillon_scheduler::{AuditObjectKind, Cause, JobDraft, check_tag};
use carillon_store::job::change::JobChange;
use carillon_store::run::trigger::NewTrigger;
use carillon_store::{Actor, App, Definition, DefinitionContext, Job, JobFilter, PauseNote, TargetJob};

use crate::engine::Engine;
use crate::manage::authorize::require;
use crate::manage::bulk::{Bulk, BulkAction, MOST_SELECTED, SLICE};
use crate::manage::error::Error;
use crate::manage::jobs::moved_links::{StoppedLink, stopped_links};
use crate::manage::jobs::pause::check_pause;

/// What is done with each job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobAction {
    Pause(PauseNote),
    Resume,
    /// A run with the parameters of the job.
    Run(Cause),
    /// To the app of this name.
    Move(String),
    AddTag(String),
    RemoveTag(String),
    Delete,
}

impl JobAction {
    fn needs(&self) -> Action {
        match self {
            Self::Pause(_) | Self::Resume | Self::Run(_) => Action::Operate,
            Self::Move(_) | Self::AddTag(_) | Self::RemoveTag(_) | Self::Delete => Action::Edit,
        }
    }

    /// The app to move to.
    async fn target(&self, engine: &Engine, by: &Actor) -> Result<Option<App>, Error> {
        let Self::Move(name) = self else { return Ok(None) };
        let app = engine.apps().named(name, by).await?;
        require(by, Action::Edit, Object::App(app.id), || format!("app {name}"))?;
        Ok(Some(app))
    }
}

impl BulkAction for JobAction {
    type Filter = JobFilter;

    fn starts_runs(&self) -> bool {
        matches!(self, Self::Run(_))
    }

    async fn check(self, engine: &Engine, by: &Actor) -> Result<Self, Error> {
        self.target(engine, by).await?;
        match self {
            Self::Pause(note) => Ok(Self::Pause(check_pause(note, engine.cx.clock.now())?)),
            Self::AddTag(ref tag) | Self::RemoveTag(ref tag) => match check_tag(tag) {
                Ok(()) => Ok(self),
                Err(message) => Err(Error::field("tag", message)),
            },
            action => Ok(action),
        }
    }

    async fn matching(&self, engine: &Engine, filter: &JobFilter, by: &Actor) -> Result<Vec<i64>, Error> {
        let filter = JobFilter { apps: by.grants.visible_apps(), ..filter.clone() };
        Ok(engine.cx.store.jobs().ids_of(&filter, MOST_SELECTED + 1).await?)
    }

    async fn apply(&self, bulk: &mut Bulk<'_>, ids: &[i64]) -> Result<(), Error> {
        let apps = bulk.engine.cx.store.retention().apps_of(ids).await?;
        let mut ids = bulk.permitted(ids, &apps, (self.needs(), AuditObjectKind::Job));
        let target = self.target(bulk.engine, bulk.by).await?;
        if let Some(app) = &target {
            let mut stopped = BTreeMap::new();
            for StoppedLink { link, why } in stopped_links(bulk.engine, &ids, app, bulk.by).await? {
                for job in [link.parent, link.child] {
                    stopped.entry(job).or_insert_with(|| why.clone());
                }
            }
            for id in &ids {
                if let Some(why) = stopped.get(id) {
                    bulk.refuse(*id, why);
                }
            }
            ids.retain(|id| !stopped.contains_key(id));
            let moving = ids.iter().filter(|id| apps.get(id) != Some(&app.id)).count();
            bulk.engine.jobs().require_room_for(app.id, &app.name, moving as u64).await?;
        }
        // Each as a job of the app that was asked about: one that moves meanwhile is missing.
        let of_app = |id: &i64| TargetJob { id: *id, app_id: apps.get(id).copied() };
        let jobs: Vec<TargetJob> = ids.iter().map(of_app).collect();
        for slice in jobs.chunks(SLICE) {
            match self {
                Self::Run(cause) => bulk.run_each(slice, *cause).await?,
                action => bulk.change_each(slice, action, target.as_ref()).await?,
            }
        }
        Ok(())
    }
}

impl Bulk<'_> {
    async fn change_each(&mut self, jobs: &[TargetJob], action: &JobAction, target: Option<&App>) -> Result<(), Error> {
        let cx = &self.engine.cx;
        let mut changes: Vec<(TargetJob, JobChange)> = Vec::with_capacity(jobs.len());
        match action {
            JobAction::Pause(note) => changes.extend(jobs.iter().map(|job| (*job, JobChange::Pause(note.clone())))),
            JobAction::Resume => changes.extend(jobs.iter().map(|job| (*job, JobChange::Enable))),
            JobAction::Delete => changes.extend(jobs.iter().map(|job| (*job, JobChange::Delete))),
            action => changes = self.definitions(jobs, action, target).await?,
        }
        let changed = cx.store.jobs().change_each(&changes, cx.clock.now(), self.by).await?;
        let mut shards = BTreeSet::new();
        for (id, changed) in changed {
            match changed {
                Ok(changed) => {
                    self.outcome.done += 1;
                    shards.insert(changed.job.shard);
                }
                Err(error) => self.refuse(id, Error::from(error).to_string()),
            }
        }
        shards.into_iter().for_each(|shard| self.engine.job_changed(shard));
        Ok(())
    }

    async fn definitions(
        &mut self,
        jobs: &[TargetJob],
        action: &JobAction,
        target: Option<&App>,
    ) -> Result<Vec<(TargetJob, JobChange)>, Error> {
        let asked: BTreeMap<i64, Option<i64>> = jobs.iter().map(|job| (job.id, job.app_id)).collect();
        let ids: Vec<i64> = asked.keys().copied().collect();
        let mut changes = Vec::with_capacity(jobs.len());
        for job in self.engine.cx.store.jobs().with_ids(&ids).await? {
            if asked.get(&job.id) != Some(&Some(job.app_id)) {
                self.refuse(job.id, format!("there is no job {}", job.id));
                continue;
            }
            match self.definition(&job, action, target) {
                Ok(Some(definition)) => {
                    let change = JobChange::Define(Box::new(definition), Some(job.revision));
                    changes.push((TargetJob::of_app(job.id, job.app_id), change));
                }
                Ok(None) => self.outcome.done += 1,
                Err(reason) => self.refuse(job.id, reason),
            }
        }
        Ok(changes)
    }

    /// None: the job is so already. An error is the reason for people.
    fn definition(&self, job: &Job, action: &JobAction, target: Option<&App>) -> Result<Option<Definition>, String> {
        let mut draft: JobDraft = job.draft.clone();
        match action {
            JobAction::Move(name) => draft.app.clone_from(name),
            JobAction::AddTag(tag) if !draft.tags.contains(tag) => draft.tags.push(tag.clone()),
            JobAction::RemoveTag(tag) => draft.tags.retain(|own| own != tag),
            _ => {}
        }
        if draft == job.draft {
            return Ok(None);
        }
        let own = App::new(job.app_id, &draft.app);
        let context = DefinitionContext::of(target.unwrap_or(&own), job, &job.calendars);
        let checked = Definition::check_in(context, &draft, self.engine.cx.clock.now());
        let definition = checked.map_err(|errors| Error::Invalid(errors).to_string())?;
        self.engine.require_scripts(&definition, Some(job), self.by).map_err(|error| error.to_string())?;
        Ok(Some(definition))
    }

    async fn run_each(&mut self, jobs: &[TargetJob], cause: Cause) -> Result<(), Error> {
        let trigger = |job: &TargetJob| NewTrigger {
            job: *job,
            cause,
            params: None,
            address: None,
            priority: None,
            idempotency_key: self.key.map(|key| hash(&format!("bulk {} {key}", job.id))),
            parts: None,
            traceparent: None,
            rerun_of: None,
            is_only_rerun: false,
        };
        let triggers: Vec<NewTrigger> = jobs.iter().map(trigger).collect();
        self.start_each(&triggers).await
    }
}
