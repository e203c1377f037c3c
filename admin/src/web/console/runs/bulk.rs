//! One action for many runs: the question with the number of runs, and the action.

use actix_web::web::Query;
use askama::Template;
use carillon_engine::manage::RunAction;
use carillon_scheduler::{Cause, Outcome};
use carillon_store::App;

use crate::web::access::Caller;
use crate::web::console::bulk::{BulkList, Next, hidden_fields};
use crate::web::console::runs::query::ListQuery;
use crate::web::forms::Form;
use crate::web::forms::child_jobs;
use crate::web::forms::moment::written;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, PageResult, render, show};
use crate::web::state::{Shared, State};

/// Words, and the keys of their labels in the list.
pub const ACTIONS: [(&str, &str); 3] = [("rerun", "run-again"), ("kill", "kill"), ("resolve", "resolve")];
/// With which the form for failed runs begins.
const SINCE_MS: i64 = 12 * 3_600_000;

/// Jobs that the question names, and the runs that are counted for them.
const NAMED: usize = 10;
const COUNTED: usize = 500;

#[derive(Template)]
#[template(path = "runs/bulk.html")]
struct Page {
    context: PageContext,
    form: Form,
    query: ListQuery,
    action: String,
    count: usize,
    jobs: Vec<JobOfRuns>,
    back: String,
}

/// A job with the number of its selected runs.
struct JobOfRuns {
    id: i64,
    /// None: it is deleted.
    name: Option<String>,
    app: String,
    runs: usize,
}

impl Page {
    /// `Kill 3 runs`
    fn what(&self) -> Message {
        what(&self.context, &self.action, self.count)
    }

    fn runs_of(&self, job: &JobOfRuns) -> Message {
        let id = job.id;
        let name = match &job.name {
            Some(name) => format!("{name} ({} #{id})", job.app),
            None => self.context.t("deleted-job").with("id", id).to_string(),
        };
        let runs = self.context.t("runs-count").count("count", job.runs);
        self.context.t("runs-of-one-job").with("job", name).with("runs", runs)
    }

    fn unnamed(&self) -> usize {
        self.count.saturating_sub(self.jobs.iter().map(|job| job.runs).sum())
    }

    fn selection(&self) -> Vec<(&'static str, String)> {
        let mut fields = hidden_fields(&self.form, &self.query.filters());
        if self.form.is("repeated", "yes") {
            fields.push(("repeated", "yes".to_owned()));
        }
        fields
    }
}

fn what(context: &PageContext, action: &str, count: usize) -> Message {
    let key = match action {
        "kill" => "kill-runs",
        "rerun" => "rerun-runs",
        _ => "resolve-runs",
    };
    context.t(key).with("runs", context.t("runs-count").count("count", count))
}

#[derive(Template)]
#[template(path = "runs/rerun.html")]
struct RerunPage {
    context: PageContext,
    form: Form,
    apps: Vec<App>,
}

/// `GET /runs/rerun`: since when failed runs are to be run again, and of which app or job.
pub async fn ask_rerun(state: Shared, context: PageContext, query: Query<ListQuery>) -> PageResult {
    let mut apps = state.store.apps().list(&context.visible()).await?;
    apps.retain(|app| context.may_operate(&app.id));
    let since = context.now - SINCE_MS;
    let since = since - since.rem_euclid(3_600_000);
    let form = Form::default().with("app", &query.app).with("job", &query.job);
    let form = form.with("from", written(since, context.zone));
    Ok(show(&RerunPage { context, form, apps }))
}

const LIST: BulkList<RunAction> = BulkList { path: "/runs", select_first: "runs-select-first", action, what };

/// `POST /runs/bulk`: `step` `ask` shows the number of runs and what the action needs, `do` does it.
pub async fn bulk(state: Shared, by: Caller, context: PageContext, mut form: Form) -> PageResult {
    let mut query = ListQuery::from(&form);
    query.job = child_jobs::with_id(&state.store, &query.app, &query.job, &context.visible()).await?;
    let (filter, back) = (query.filter(&state, &context).await?, query.address(None));
    let ids = match LIST.next(&state, &by, &context, &mut form, filter, &back).await? {
        Next::Answer(answer) => return Ok(answer),
        Next::Question(ids) => ids,
    };
    let jobs = jobs_of(&state, &context, &ids).await?;
    let (status, action, count) = (form.status(), form.value("action").to_owned(), ids.len());
    Ok(render(&Page { context, form, query, action, count, jobs, back }, status))
}

/// The jobs with the most of these runs, of those that the viewer sees.
async fn jobs_of(state: &State, context: &PageContext, ids: &[i64]) -> Result<Vec<JobOfRuns>, PageError> {
    let mut jobs: Vec<JobOfRuns> = vec![];
    let newest = &ids[ids.len().saturating_sub(COUNTED)..];
    for (_, run) in state.store.runs().with_ids(newest).await?.into_iter().filter(|(app, _)| context.may_see(app)) {
        match jobs.iter_mut().find(|job| job.id == run.job_id) {
            Some(job) => job.runs += 1,
            None => jobs.push(JobOfRuns { id: run.job_id, name: run.job, app: run.app, runs: 1 }),
        }
    }
    jobs.sort_by_key(|job| (std::cmp::Reverse(job.runs), job.id));
    jobs.truncate(NAMED);
    Ok(jobs)
}

fn action(form: &mut Form, _: &PageContext, is_confirmed: bool) -> Result<RunAction, PageError> {
    Ok(match form.value("action") {
        "kill" => RunAction::Kill,
        "rerun" => RunAction::Rerun { cause: Cause::Manual, repeated: form.is("repeated", "yes") },
        "resolve" => {
            let outcome = if form.is("outcome", "succeeded") { Outcome::Succeeded } else { Outcome::Failed };
            if is_confirmed && !["succeeded", "failed"].contains(&form.value("outcome")) {
                form.add_error("outcome", "Choose the result.");
            }
            RunAction::Resolve { outcome, note: form.value("note").to_owned() }
        }
        _ => return Err(PageError::Bad("There is no such action for runs".into())),
    })
}
