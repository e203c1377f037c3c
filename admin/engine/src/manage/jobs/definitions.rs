use std::collections::BTreeSet;

use carillon_accounts::policy::{self, Action, Object};
use carillon_inspect::preview::{self, Preview, Span};
use carillon_scheduler::{FieldError, JobDraft, Millis};
use carillon_store::app::job_limit::NewInApp;
use carillon_store::{Actor, Definition, Job, TargetJob};

use crate::manage::authorize::require;
use crate::manage::entry_points::Jobs;
use crate::manage::error::Error;
use crate::manage::jobs::validation::{PlannedSchedule, ValidationContext};
use crate::manage::limits::costly::blocking;

/// A draft that is not saved.
pub struct PreviewRequest<'a> {
    pub draft: &'a JobDraft,
    /// The job that it changes.
    pub before: Option<&'a Job>,
    /// Whether the app must exist.
    pub needs_app: bool,
    /// Instants after it; None: now.
    pub from: Option<Millis>,
    pub count: usize,
}

impl Jobs<'_> {
    /// # Errors
    /// `Missing`
    pub async fn get(&self, id: i64) -> Result<Job, Error> {
        self.engine.cx.store.jobs().get(id).await?.ok_or_else(|| Error::missing("job", id))
    }

    /// Creates a job. A repeated request with the same key creates nothing and answers the job of the first one.
    ///
    /// # Errors
    /// `Forbidden`; `Invalid`; `Changed`, if the job of the first request with this key is deleted
    pub async fn create(&self, draft: JobDraft, key: Option<&str>, by: &Actor) -> Result<Job, Error> {
        let mut context = self.context(std::slice::from_ref(&draft), None, by).await?;
        context.require_editor(by)?;
        let definition = context.check(&draft).map_err(Error::Invalid)?;
        self.engine.require_scripts(&definition, None, by)?;
        let mut jobs = self.store(vec![definition], key, by).await?;
        jobs.pop().ok_or_else(|| Error::Changed(GONE.to_owned()))
    }

    /// Creates jobs, all or none, and answers them in the order of their drafts.
    ///
    /// # Errors
    /// As [`Jobs::create`]; members are named as `[3].schedule.seconds`.
    pub async fn create_all(&self, drafts: Vec<JobDraft>, key: Option<&str>, by: &Actor) -> Result<Vec<Job>, Error> {
        let context = self.context(&drafts, None, by).await?;
        context.require_editor(by)?;
        // A thousand schedules are some hundred milliseconds of arithmetic.
        let definitions = blocking(move || check_all(&drafts, context)).await??;
        definitions.iter().try_for_each(|definition| self.engine.require_scripts(definition, None, by))?;
        self.store(definitions, key, by).await
    }

    /// Gives a job another definition, in force at once. `expected`: the revision that the caller has read.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Invalid`, `Changed`
    pub async fn update(&self, id: i64, draft: &JobDraft, expected: Option<i64>, by: &Actor) -> Result<Job, Error> {
        let before = self.get(id).await?;
        let app_id = before.app_id;
        require(by, Action::Edit, Object::App(app_id), || format!("job {id}"))?;
        let draft = &self.engine.with_named_source(draft, Some(&before)).await?;
        let mut context = self.context(std::slice::from_ref(draft), Some(before.clone()), by).await?;
        context.require_editor(by)?;
        let definition = context.check(draft).map_err(Error::Invalid)?;
        self.engine.require_scripts(&definition, Some(&before), by)?;
        if definition.app_id() != app_id {
            self.require_room_for(definition.app_id(), definition.app(), 1).await?;
        }
        let (target, now) = (TargetJob::of_app(id, app_id), self.engine.cx.clock.now());
        let job = self.engine.cx.store.jobs().update(target, &definition, expected, now, by).await?;
        self.engine.forecaster.forget_loads();
        self.engine.job_changed(job.shard);
        Ok(job)
    }

    /// The job of an app with this key.
    ///
    /// # Errors
    /// `Missing`
    pub async fn with_key(&self, app_id: i64, key: &str) -> Result<Job, Error> {
        let id = self.engine.cx.store.jobs().id_with_key(app_id, key).await?;
        self.get(id.ok_or_else(|| Error::Missing(format!("job {key:?} in this app")))?).await
    }

    /// Gives the job with the draft's app and key this definition, and creates it if there is none. `expected`: the revision that the
    /// caller has read.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Invalid`, `Changed`
    pub async fn put(&self, app_id: i64, draft: JobDraft, expected: Option<i64>, by: &Actor) -> Result<Job, Error> {
        match self.with_key(app_id, &draft.key).await {
            Ok(job) => self.update(job.id, &draft, expected, by).await,
            Err(Error::Missing(_)) if expected.is_none() => self.create(draft, None, by).await,
            Err(error) => Err(error),
        }
    }

    /// What is wrong with a draft that is not to be saved yet; `before` is the job that it changes.
    ///
    /// # Errors
    /// `Invalid`
    pub async fn check(&self, draft: &JobDraft, before: Option<&Job>, by: &Actor) -> Result<(), Error> {
        let draft = &self.engine.with_named_source(draft, before).await?;
        let mut context = self.context(std::slice::from_ref(draft), before.cloned(), by).await?;
        context.check(draft).map(drop).map_err(Error::Invalid)
    }

    /// What a draft will do that is not saved, with loads that may be some seconds old; `before` is the job that it changes.
    ///
    /// # Errors
    /// `Invalid`
    pub async fn preview(&self, ask: &PreviewRequest<'_>, by: &Actor) -> Result<Preview, Error> {
        let mut context = ValidationContext::rough(self.engine, ask.draft, ask.before.cloned(), by).await?;
        if !ask.needs_app {
            context.add_placeholder(&ask.draft.app);
        }
        let PlannedSchedule { schedule, calendars, chosen, fires_left } =
            context.plan(ask.draft).map_err(Error::Invalid)?;
        let now = self.engine.cx.clock.now();
        let span = Span { from: ask.from.unwrap_or(now), count: ask.count, fires_left, now };
        // A schedule that is slow to search must not occupy a thread that serves others.
        blocking(move || preview::preview(&schedule, &calendars, chosen, span)).await
    }

    /// The next instants of a job's schedule, enabled or not.
    ///
    /// # Errors
    /// `Missing`; `Unusable`, if the stored schedule cannot be used
    pub async fn next_fires(&self, id: i64, from: Option<Millis>, count: usize) -> Result<Preview, Error> {
        let (job, now) = (self.get(id).await?, self.engine.cx.clock.now());
        let looked = blocking(move || preview::of_job(&job, from.unwrap_or(now), count, now)).await?;
        looked.map_err(Error::Unusable)
    }

    /// Deletes a job and answers what it was. Its runs stay; those not sent yet are cancelled.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`
    pub async fn delete(&self, id: i64, by: &Actor) -> Result<Job, Error> {
        let target = self.engine.require_for_job(by, Action::Edit, id).await?;
        let job = self.engine.cx.store.jobs().delete(target, self.engine.cx.clock.now(), by).await?;
        self.engine.job_changed(job.shard);
        Ok(job)
    }

    async fn context(&self, drafts: &[JobDraft], before: Option<Job>, by: &Actor) -> Result<ValidationContext, Error> {
        ValidationContext::new(self.engine, drafts, before, by).await
    }

    /// For jobs that move there.
    ///
    /// # Errors
    /// `Invalid`, if the app would have more jobs than one may have.
    pub(super) async fn require_room_for(&self, app_id: i64, app: &str, new: u64) -> Result<(), Error> {
        let most = self.engine.cx.settings.limits.app_jobs;
        Ok(self.engine.cx.store.apps().check_job_quota(&NewInApp { app_id, app, new }, most).await?)
    }

    async fn store(&self, definitions: Vec<Definition>, key: Option<&str>, by: &Actor) -> Result<Vec<Job>, Error> {
        let (count, cx) = (definitions.len(), &self.engine.cx);
        let most = cx.settings.limits.app_jobs;
        let jobs = cx.store.jobs().create_within(definitions, Some(most), cx.clock.now(), by, key).await?;
        if jobs.len() != count {
            return Err(Error::Changed(GONE.to_owned()));
        }
        // The key may be that of a request of others, about jobs which this actor may not see.
        if jobs.iter().any(|job| !policy::may(by, Action::Edit, Object::App(job.app_id))) {
            return Err(Error::Changed(FOREIGN.to_owned()));
        }
        self.engine.forecaster.forget_loads();
        for shard in jobs.iter().map(|job| job.shard).collect::<BTreeSet<_>>() {
            self.engine.job_changed(shard);
        }
        Ok(jobs)
    }
}

const FOREIGN: &str = "another request was made with this idempotency key before";
const GONE: &str = "jobs were made with this idempotency key before, and not all of them are still there";

fn check_all(drafts: &[JobDraft], mut context: ValidationContext) -> Result<Vec<Definition>, Error> {
    let (mut definitions, mut errors) = (vec![], vec![]);
    for (index, draft) in drafts.iter().enumerate() {
        match context.check(draft) {
            Ok(definition) => definitions.push(definition),
            Err(wrong) => errors.extend(
                wrong.into_iter().map(|error| FieldError { field: format!("[{index}].{}", error.field), ..error }),
            ),
        }
    }
    if errors.is_empty() { Ok(definitions) } else { Err(Error::Invalid(errors)) }
}
