//! Runs on request.

use carillon_accounts::policy::Action;
use carillon_scheduler::job::limits::check_params;
use carillon_scheduler::job::placeholders::{fill_instant, has_placeholders};
use carillon_scheduler::{Cause, Parts, Traceparent, check_priority, check_split};
use carillon_store::run::trigger::NewTrigger;
use carillon_store::{Actor, Job, RunParams, RunView};

use crate::manage::entry_points::Jobs;
use crate::manage::error::Error;
use carillon_protocol::normal_address;

/// A run without an instant of the schedule: by hand, or through the API.
#[derive(Clone, Debug)]
pub struct RunRequest {
    pub job_id: i64,
    pub cause: Cause,
    /// None: the job's own.
    pub params: Option<String>,
    /// None: the job's own. A list gives each part its parameters; those of `params` go to every part.
    pub parts: Option<Parts>,
    /// The executor that is to run it, which must be registered for the job's app.
    pub address: Option<String>,
    /// In place of the priority that the job has, in seconds.
    pub priority: Option<i32>,
    /// A repeated request with the same key finds the run of the first one.
    pub idempotency_key: Option<String>,
}

/// What a run gets that repeats another one: its parameters, or those of its job if it was never sent or its own are not on record, for
/// the instant of the original. None: those that the job has when it is sent, or those of `parts`, which are repeated with the whole fire.
pub fn repeated_params(original: &RunView, given: &RunParams, job: &Job) -> Option<String> {
    let zone = job.draft.schedule.zone();
    match given.text() {
        _ if matches!(given, RunParams::OfPart(_)) => None,
        Some(text) => Some(fill_instant(text, original.scheduled_at, zone).into_owned()),
        None => {
            let own = &job.draft.params;
            has_placeholders(own).then(|| fill_instant(own, original.scheduled_at, zone).into_owned())
        }
    }
}

/// The parts of the fire of `original`, for its instant.
pub fn repeated_parts(original: &RunView, parts: Option<Parts>, job: &Job) -> Option<Parts> {
    let fill = |text: String| fill_instant(&text, original.scheduled_at, job.draft.schedule.zone()).into_owned();
    Some(match parts? {
        Parts::Each(texts) => Parts::Each(texts.into_iter().map(fill).collect()),
        count @ Parts::Count(_) => count,
    })
}

impl Jobs<'_> {
    /// Records a run of a job, enabled or not; it is there, `claimed`, when this returns. Returns the run's id.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`; `Invalid`: the parameters, or the address
    pub async fn run(&self, request: RunRequest, by: &Actor) -> Result<i64, Error> {
        self.record_run(request, None, None, by).await
    }

    /// The same, and the run continues the trace of the request.
    ///
    /// # Errors
    /// As [`Self::run`]
    pub async fn run_traced(
        &self,
        request: RunRequest,
        traceparent: Option<Traceparent>,
        by: &Actor,
    ) -> Result<i64, Error> {
        self.record_run(request, None, traceparent, by).await
    }

    /// The same, and the run remembers which run it repeats.
    ///
    /// # Errors
    /// As [`Self::run`]; `Invalid`: `rerun_of`
    pub async fn run_again(&self, request: RunRequest, rerun_of: Option<i64>, by: &Actor) -> Result<i64, Error> {
        self.record_run(request, rerun_of, None, by).await
    }

    async fn record_run(
        &self,
        mut request: RunRequest,
        rerun_of: Option<i64>,
        traceparent: Option<Traceparent>,
        by: &Actor,
    ) -> Result<i64, Error> {
        let job = self.engine.require_for_job(by, Action::Operate, request.job_id).await?;
        if let Some(Err(message)) = request.params.as_deref().map(check_params) {
            return Err(Error::field("params", message));
        }
        if let Some(Err(message)) = request.priority.map(check_priority) {
            return Err(Error::field("priority", message));
        }
        if let Some(parts) = &request.parts {
            let has_params = request.params.is_some();
            self.check_parts(request.job_id, parts, has_params).await?;
        }
        request.address = request.address.as_deref().map(normal_address);
        if let Some(address) = &request.address {
            self.must_be_registered(request.job_id, address).await?;
        }
        if let Some(original) = rerun_of {
            let run = self.engine.cx.store.runs().get(original).await?;
            if run.is_none_or(|run| run.job_id != request.job_id) {
                return Err(Error::field("rerun_of", format!("{original} is no run of this job")));
            }
        }
        self.engine.costly.count_runs(1, by)?;
        let RunRequest { job_id, cause, params, parts, address, priority, idempotency_key } = request;
        let traceparent = traceparent.map(|it| it.to_string());
        let is_only_rerun = false;
        let new = NewTrigger {
            job,
            cause,
            params,
            parts,
            address,
            priority,
            idempotency_key,
            traceparent,
            rerun_of,
            is_only_rerun,
        };
        let made = self.engine.cx.store.runs().insert_triggered(&new, self.engine.cx.clock.now(), by).await?;
        let made = made.ok_or_else(|| Error::missing("job", job_id))?;
        self.engine.job_changed(made.shard);
        Ok(made.run_id)
    }

    pub(super) async fn check_parts(&self, job_id: i64, parts: &Parts, has_params: bool) -> Result<(), Error> {
        let wrong = |message: &str| Err(Error::field("parts", message.to_owned()));
        if let Err(message) = parts.check() {
            return Err(Error::field("parts", message));
        }
        let job = self.engine.cx.store.jobs().get(job_id).await?.ok_or_else(|| Error::missing("job", job_id))?;
        if parts.texts().is_some() && has_params {
            return wrong("is a list, so `params` must be left out: each part gets its own text");
        }
        if parts.texts().is_none() && job.draft.parts.texts().is_some() && !has_params {
            return wrong(
                "the job lists the parameters of its parts; give a list, or a number and `params` for all parts",
            );
        }
        match parts.is_one() || job.draft.http.is_some() {
            true => Ok(()),
            false => check_split(job.draft.route, job.draft.block).map_err(|message| Error::field("parts", message)),
        }
    }

    /// Every request carries the access token: it goes only to an address that an executor of the app has registered, or that
    /// was entered for the app.
    pub(super) async fn must_be_registered(&self, job_id: i64, address: &str) -> Result<(), Error> {
        let engine = self.engine;
        let jobs = engine.job_cache.current(&[job_id]).await?;
        let job = jobs.get(&job_id).ok_or_else(|| Error::missing("job", job_id))?;
        if job.http.is_some() {
            let why = "must be empty: an HTTP job has no executors, its request goes to its URL";
            return Err(Error::field("address", why.to_owned()));
        }
        engine.directory.refresh().await?;
        let live = engine.directory.live(&job.stored.app);
        match live.iter().find(|candidate| candidate.address == address) {
            Some(found) if found.is_draining() => {
                Err(Error::field("address", format!("{address} is draining: it gets no new runs")))
            }
            Some(_) => Ok(()),
            None => Err(Error::field("address", format!("{address} is not registered for the job's app"))),
        }
    }
}
