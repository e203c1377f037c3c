//! Run once: parameters, executor, and a request key, so that a form that is sent twice makes one run.

use actix_web::web::{Path, Query};
use askama::Template;
use carillon_accounts::secret::random_secret;
use carillon_engine::manage::{
    DelayedRun, DueTime, Error, RunLaterRequest, RunRequest, repeated_params, repeated_parts,
};
use carillon_scheduler::Cause;
use carillon_store::app::executors::Executor;
use carillon_store::{Job, RunView};
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::console::runs::page::visible_run;
use crate::web::forms::moment::moment;
use crate::web::forms::{Form, line_ends, parts_form};
use crate::web::page::{PageContext, PageError, PageResult, redirect, render};
use crate::web::state::{Shared, State};
use crate::web::text::strategies;

/// More than the keys of the page have; with its prefix a key must fit its column.
const KEY_BYTES: usize = 100;

#[derive(Template)]
#[template(path = "jobs/run_now.html")]
struct Page {
    context: PageContext,
    job: Job,
    form: Form,
    executors: Vec<Executor>,
    /// Where the parameters come from, if not from the job.
    note: Option<String>,
    route: String,
}

async fn page(state: &State, context: PageContext, job: Job, form: Form) -> PageResult {
    let mut executors = state.store.apps().executors_of(&job.draft.app).await?;
    executors.retain(|it| it.is_live(context.now));
    let status = form.status();
    let note = Some(form.value("note").to_owned()).filter(|note| !note.is_empty());
    let route = strategies::route(context.language, job.draft.route);
    let page = Page { context, job, form, executors, note, route };
    Ok(render(&page, status))
}

#[derive(Default, Deserialize)]
pub struct RunDefaults {
    /// A run whose parameters are taken once more.
    like: Option<i64>,
}

/// `GET /jobs/{id}/run`
pub async fn ask(state: Shared, context: PageContext, id: Path<i64>, defaults: Query<RunDefaults>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let like = original(&state, &context, defaults.like, job.id).await?;
    let mut form = Form::default().with("params", &job.draft.params).with("key", random_secret());
    form.set("parts", parts_form::fill(&job.draft.parts));
    if let Some(run) = like {
        form.set("rerun_of", run.id.to_string());
        let given = state.store.runs().params_of(&run).await?;
        let repeated = repeated_params(&run, &given, &job).unwrap_or_else(|| job.draft.params.clone());
        let note = match given.text() {
            Some(_) if repeated != job.draft.params => Some("run-now-like"),
            Some(_) => None,
            None => Some("run-now-not-on-record"),
        };
        form.set("params", repeated);
        let parts = state.store.runs().parts_to_repeat(&run).await?;
        if let Some(parts) = repeated_parts(&run, parts, &job) {
            form.set("parts", parts_form::fill(&parts));
        }
        if let Some(note) = note {
            form.set("note", context.t(note).with("run", run.id).to_string());
        }
    }
    page(&state, context, job, form).await
}

/// The run that is to be repeated, if it is one of this job.
async fn original(
    state: &State,
    context: &PageContext,
    id: Option<i64>,
    job_id: i64,
) -> Result<Option<RunView>, PageError> {
    let run = match id {
        Some(id) => visible_run(state, context, id).await?,
        None => None,
    };
    Ok(run.filter(|run| run.job_id == job_id))
}

/// When the run is due; None: now.
fn due_time(form: &mut Form, context: &PageContext) -> Option<DueTime> {
    let at = moment(form, "at", context.zone).map(DueTime::At);
    let has_delay = !form.value("delay").trim().is_empty();
    let delay = has_delay.then(|| DueTime::InSeconds(form.seconds("delay", 0)));
    if at.is_some() && delay.is_some() {
        form.add_error("delay", "Choose a time or a delay, not both.");
    }
    at.or(delay)
}

/// Records the run of a form that names a time; answers its number.
async fn run_later(state: &State, due: DueTime, request: RunRequest, by: &Caller) -> Result<i64, Error> {
    let RunRequest { job_id, params, parts, address, priority, idempotency_key, .. } = request;
    let run = DelayedRun { due, expires_after_seconds: None, params, parts, address, priority };
    let request = RunLaterRequest { job_id, runs: vec![run], idempotency_key, traceparent: None, is_list: false };
    let recorded = state.engine.jobs().run_later(request, &by.0).await?;
    recorded.ids.first().copied().ok_or_else(|| Error::Missing(format!("job {job_id}")))
}

/// `POST /jobs/{id}/run`
pub async fn run(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    if form.value("key").len() > KEY_BYTES {
        let text = "The key of this form is longer than the page makes it";
        return Err(PageError::Bad(text.into()));
    }
    let mut params = line_ends::kept(form.value("params"), &job.draft.params);
    if form.is("step", "preview") {
        return page(&state, context, job, form).await;
    }
    let parts = parts_form::read(form.value("parts"));
    let given = |name: &str| Some(form.value(name).to_owned()).filter(|text| !text.is_empty());
    let rerun_of = given("rerun_of").and_then(|id| id.parse().ok());
    if let Some(run) = original(&state, &context, rerun_of, job.id).await? {
        let given = state.store.runs().params_of(&run).await?;
        let given = repeated_params(&run, &given, &job).unwrap_or_default();
        params = line_ends::kept(&params, &given);
    }
    let request = RunRequest {
        job_id: job.id,
        cause: Cause::Manual,
        // The job may be edited before a repeated run is sent.
        params: (rerun_of.is_some() || params != job.draft.params)
            .then_some(params)
            .filter(|params| parts.texts().is_none() || !params.is_empty()),
        parts: (parts.texts().is_some() || parts != job.draft.parts).then_some(parts),
        address: given("address"),
        priority: None,
        idempotency_key: given("key").map(|key| format!("console-{key}")),
    };
    // What is repeated is repeated now.
    let due = if rerun_of.is_none() { due_time(&mut form, &context) } else { None };
    if !form.is_valid() {
        return page(&state, context, job, form).await;
    }
    let recorded = match due {
        None => state.engine.jobs().run_again(request, rerun_of, &by.0).await,
        Some(due) => run_later(&state, due, request, &by).await,
    };
    match recorded {
        Ok(run) => Ok(redirect(&format!("/runs/{run}"))),
        Err(Error::Invalid(errors)) => {
            for error in errors {
                // Its executor was chosen from those that were online when the form was made.
                let message = match error.field.as_str() {
                    "address" => format!("{} is not online any more; choose another executor.", form.value("address")),
                    _ => error.message,
                };
                let field = if error.field == "delay_seconds" { "delay" } else { &error.field };
                form.add_error(field, message);
            }
            page(&state, context, job, form).await
        }
        Err(error) => Err(error.into()),
    }
}
