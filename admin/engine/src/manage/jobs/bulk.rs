//! One action for many jobs.

use std::collections::{BTreeMap, BTreeSet};

use carillon_accounts::policy::{Action, Object};
use carillon_accounts::secret::hash;
use carillon_scheduler::{AuditObjectKind, Cause, FieldError, JobDraft, check_tag};
use carillon_store::job::change::JobChange;
use carillon_store::run::trigger::NewTrigger;
use carillon_store::{Actor, App, Definition, DefinitionContext, Job, JobFilter, PauseNote, TargetJob};

use crate::manage::authorize::require;
use crate::manage::error::Error;
use crate::manage::jobs::definitions::Jobs;
use crate::manage::jobs::moved_links::{StoppedLink, stopped_links};
use crate::manage::jobs::pause::check_pause;
use crate::manage::selection::{BulkOutcome, MOST_SELECTED, SLICE, Selection, check_count};

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
}

/// A request for many jobs.
pub struct JobBulkRequest<'a> {
    pub selection: &'a Selection<JobFilter>,
    pub action: JobAction,
    /// How many jobs the caller has seen and confirmed; None: it does not matter.
    pub expected: Option<usize>,
    /// A repeated request with the same key runs each job once.
    pub idempotency_key: Option<&'a str>,
}

impl Jobs<'_> {
    /// The jobs of a selection, at most one more than [`MOST_SELECTED`]. Those that the actor does not see are not among a
    /// filter's.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn selected(&self, selection: &Selection<JobFilter>, by: &Actor) -> Result<Vec<i64>, Error> {
        Ok(match selection {
            Selection::Ids(ids) => ids.iter().copied().collect::<BTreeSet<_>>().into_iter().collect(),
            Selection::Filter(filter) => {
                let filter = JobFilter { apps: by.grants.visible_apps(), ..filter.clone() };
                self.engine.cx.store.jobs().ids_of(&filter, MOST_SELECTED + 1).await?
            }
        })
    }

    /// Does something with each selected job for which the actor may do it, and says why it did not with the others. The jobs
    /// are changed in slices: what is done stays done, if the database fails on the way.
    ///
    /// # Errors
    /// `Invalid`: a member of the action, too many jobs; `Forbidden`: the app to move to; `Changed`: another number of jobs
    pub async fn do_with_all(&self, request: JobBulkRequest<'_>, by: &Actor) -> Result<BulkOutcome, Error> {
        let (action, target) = self.checked(request.action, by).await?;
        let _place = self.engine.costly.enter(by).await?;
        let ids = self.selected(request.selection, by).await?;
        check_count(ids.len(), request.expected)?;
        if matches!(action, JobAction::Run(_)) {
            self.engine.costly.count_runs(ids.len(), by)?;
        }
        let mut outcome = BulkOutcome::new(ids.len());
        let apps = self.engine.cx.store.retention().apps_of(&ids).await?;
        let mut ids = outcome.permitted(&ids, &apps, (by, action.needs(), AuditObjectKind::Job));
        if let Some(app) = &target {
            let mut stopped = BTreeMap::new();
            for StoppedLink { link, why } in stopped_links(self.engine, &ids, app, by).await? {
                for job in [link.parent, link.child] {
                    stopped.entry(job).or_insert_with(|| why.clone());
                }
            }
            for id in &ids {
                if let Some(why) = stopped.get(id) {
                    outcome.refuse(*id, why);
                }
            }
            ids.retain(|id| !stopped.contains_key(id));
            let moving = ids.iter().filter(|id| apps.get(id) != Some(&app.id)).count();
            self.require_room_for(app.id, &app.name, moving as u64).await?;
        }
        // Each as a job of the app that was asked about: one that moves meanwhile is missing.
        let of_app = |id: &i64| TargetJob { id: *id, app_id: apps.get(id).copied() };
        let jobs: Vec<TargetJob> = ids.iter().map(of_app).collect();
        for slice in jobs.chunks(SLICE) {
            match &action {
                JobAction::Run(cause) => {
                    self.run_each(slice, *cause, request.idempotency_key, by, &mut outcome).await?
                }
                action => self.change_each(slice, action, target.as_ref(), by, &mut outcome).await?,
            }
        }
        Ok(outcome.finish())
    }

    /// The action with its texts in order, and the app to move to.
    async fn checked(&self, action: JobAction, by: &Actor) -> Result<(JobAction, Option<App>), Error> {
        let now = self.engine.cx.clock.now();
        Ok(match action {
            JobAction::Pause(note) => (JobAction::Pause(check_pause(note, now)?), None),
            JobAction::AddTag(tag) | JobAction::RemoveTag(tag) if check_tag(&tag).is_err() => {
                let message = check_tag(&tag).err().unwrap_or_default();
                return Err(Error::Invalid(vec![FieldError::new("tag", message)]));
            }
            JobAction::Move(name) => {
                let app = self.engine.apps().named(&name, by).await?;
                require(by, Action::Edit, Object::App(app.id), || format!("app {name}"))?;
                (JobAction::Move(name), Some(app))
            }
            action => (action, None),
        })
    }

    async fn change_each(
        &self,
        jobs: &[TargetJob],
        action: &JobAction,
        target: Option<&App>,
        by: &Actor,
        outcome: &mut BulkOutcome,
    ) -> Result<(), Error> {
        let store = &self.engine.cx.store;
        let mut changes: Vec<(TargetJob, JobChange)> = Vec::with_capacity(jobs.len());
        match action {
            JobAction::Pause(note) => changes.extend(jobs.iter().map(|job| (*job, JobChange::Pause(note.clone())))),
            JobAction::Resume => changes.extend(jobs.iter().map(|job| (*job, JobChange::Enable))),
            JobAction::Delete => changes.extend(jobs.iter().map(|job| (*job, JobChange::Delete))),
            action => changes = self.definitions(jobs, action, target, outcome).await?,
        }
        let changed = store.jobs().change_each(&changes, self.engine.cx.clock.now(), by).await?;
        let mut shards = BTreeSet::new();
        for (id, changed) in changed {
            match changed {
                Ok(changed) => {
                    outcome.done += 1;
                    shards.insert(changed.job.shard);
                }
                Err(error) => outcome.refuse(id, Error::from(error).to_string()),
            }
        }
        shards.into_iter().for_each(|shard| self.engine.job_changed(shard));
        Ok(())
    }

    async fn definitions(
        &self,
        jobs: &[TargetJob],
        action: &JobAction,
        target: Option<&App>,
        outcome: &mut BulkOutcome,
    ) -> Result<Vec<(TargetJob, JobChange)>, Error> {
        let asked: BTreeMap<i64, Option<i64>> = jobs.iter().map(|job| (job.id, job.app_id)).collect();
        let ids: Vec<i64> = asked.keys().copied().collect();
        let mut changes = Vec::with_capacity(jobs.len());
        for job in self.engine.cx.store.jobs().with_ids(&ids).await? {
            if asked.get(&job.id) != Some(&Some(job.app_id)) {
                outcome.refuse(job.id, format!("there is no job {}", job.id));
                continue;
            }
            match self.definition(&job, action, target) {
                Ok(Some(definition)) => {
                    let change = JobChange::Define(Box::new(definition), Some(job.revision));
                    changes.push((TargetJob::of_app(job.id, job.app_id), change));
                }
                Ok(None) => outcome.done += 1,
                Err(reason) => outcome.refuse(job.id, reason),
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
        let own = App {
            id: job.app_id,
            name: draft.app.clone(),
            title: String::new(),
            created_at: 0,
            own_tokens_only: false,
        };
        let context = DefinitionContext::of(target.unwrap_or(&own), job, &job.calendars);
        let checked = Definition::check_in(context, &draft, self.engine.cx.clock.now());
        checked.map(Some).map_err(|errors| Error::Invalid(errors).to_string())
    }

    async fn run_each(
        &self,
        jobs: &[TargetJob],
        cause: Cause,
        key: Option<&str>,
        by: &Actor,
        outcome: &mut BulkOutcome,
    ) -> Result<(), Error> {
        let trigger = |job: &TargetJob| NewTrigger {
            job: *job,
            cause,
            params: None,
            address: None,
            idempotency_key: key.map(|key| hash(&format!("bulk {} {key}", job.id))),
            rerun_of: None,
        };
        let triggers: Vec<NewTrigger> = jobs.iter().map(trigger).collect();
        let made = self.engine.cx.store.runs().insert_triggered_all(&triggers, self.engine.cx.clock.now(), by).await?;
        for (TargetJob { id, .. }, made) in jobs.iter().zip(made) {
            match made {
                Some(made) => {
                    outcome.done += 1;
                    self.engine.job_changed(made.shard);
                }
                None => outcome.refuse(*id, format!("there is no job {id}")),
            }
        }
        Ok(())
    }
}
