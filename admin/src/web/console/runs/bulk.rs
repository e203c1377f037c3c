//! One action for many runs: the question with the number of runs, and the action.

use actix_web::web;
use askama::Template;
use carillon_accounts::secret::random_secret;
use carillon_engine::manage::{RunAction, RunBulkRequest, Selection};
use carillon_scheduler::{Cause, Outcome};
use carillon_store::{App, RunFilter};

use crate::web::access::Caller;
use crate::web::console::bulk::{answer, hidden_fields, ids_of, take_count_error};
use crate::web::console::runs::query::ListQuery;
use crate::web::forms::moment::written;
use crate::web::forms::{Fields, Form};
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, PageResult, redirect_with_flash, render, show};
use crate::web::state::{Shared, State};

/// Words, and the keys of their labels in the list.
pub const ACTIONS: [(&str, &str); 3] = [("rerun", "run-again"), ("kill", "kill"), ("resolve", "resolve")];
/// With which the form for failed runs begins.
const SINCE_MS: i64 = 12 * 3_600_000;

#[derive(Template)]
#[template(path = "runs/bulk.html")]
struct Page {
    context: PageContext,
    form: Form,
    query: ListQuery,
    action: String,
    count: usize,
    back: String,
}

impl Page {
    /// `Kill 3 runs`
    fn what(&self) -> Message {
        let key = match self.action.as_str() {
            "kill" => "kill-runs",
            "rerun" => "rerun-runs",
            _ => "resolve-runs",
        };
        self.context.t(key).with("runs", self.context.t("runs-count").count("count", self.count))
    }

    fn selection(&self) -> Vec<(&'static str, String)> {
        let mut fields = hidden_fields(&self.form, &self.query.filters());
        if self.form.is("repeated", "yes") {
            fields.push(("repeated", "yes".to_owned()));
        }
        fields
    }
}

#[derive(Template)]
#[template(path = "runs/rerun.html")]
struct RerunPage {
    context: PageContext,
    form: Form,
    apps: Vec<App>,
}

/// `GET /runs/rerun`: since when failed runs are to be run again, and of which app or job.
pub async fn ask_rerun(state: Shared, context: PageContext, query: web::Query<ListQuery>) -> PageResult {
    let mut apps = state.store.apps(&context.visible()).await?;
    apps.retain(|app| context.may_operate(&app.id));
    let since = context.now - SINCE_MS;
    let since = since - since.rem_euclid(3_600_000);
    let form = Form::default().with("app", &query.app).with("job", &query.job);
    let form = form.with("from", written(since, context.zone));
    Ok(show(&RerunPage { context, form, apps }))
}

/// `POST /runs/bulk`: `step` `ask` shows the number of runs and what the action needs, `do` does it.
pub async fn bulk(state: Shared, by: Caller, context: PageContext, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let query = ListQuery::of_form(&form);
    let (filter, wrong) = query.filter(&state, &context).await?;
    if let Some((label, message)) = wrong.first() {
        return Err(PageError::Bad(context.fault(context.t(label), message).to_string()));
    }
    let back = query.address(None);
    let selection = match form.is("all", "yes") {
        true => Selection::Filter(filter),
        false => Selection::Ids(ids_of(&form)),
    };
    if selection == Selection::Ids(vec![]) {
        let text = context.t("runs-select-first").to_string();
        return Ok(redirect_with_flash(&back, "failed", &text));
    }
    let is_confirmed = form.is("step", "do");
    let action = action(&mut form, is_confirmed)?;
    if is_confirmed && form.is_valid() {
        let key = form.value("key").to_owned();
        let request = RunBulkRequest {
            selection: &selection,
            action: action.clone(),
            expected: form.value("count").parse().ok(),
            idempotency_key: Some(key.as_str()).filter(|key| !key.is_empty()),
        };
        match state.engine.runs().do_with_all(request, &by.0).await {
            Ok(outcome) => return answer(context, outcome, "/runs", &back),
            Err(error) => take_count_error(&mut form, error)?,
        }
    }
    question(&state, by, context, (form, query), (&selection, &action)).await
}

async fn question(
    state: &State,
    by: Caller,
    context: PageContext,
    (mut form, query): (Form, ListQuery),
    (selection, action): (&Selection<RunFilter>, &RunAction),
) -> PageResult {
    let count = state.engine.runs().selected(selection, action, &by.0).await?.len();
    let status = form.status();
    if form.value("key").is_empty() {
        form.set("key", random_secret());
    }
    let (action, back) = (form.value("action").to_owned(), query.address(None));
    Ok(render(&Page { context, form, query, action, count, back }, status))
}

/// What is missing becomes an error of a form that was confirmed.
fn action(form: &mut Form, is_confirmed: bool) -> Result<RunAction, PageError> {
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
