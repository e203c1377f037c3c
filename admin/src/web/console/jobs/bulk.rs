//! One action for many jobs: the question with the number of jobs, and the action.

use askama::Template;
use carillon_accounts::secret::random_secret;
use carillon_engine::manage::{Error, JobAction, JobBulkRequest, Selection};
use carillon_scheduler::Cause;
use carillon_store::{App, JobFilter, PauseNote};

use crate::web::access::Caller;
use crate::web::console::bulk::{answer, hidden_fields, ids_of, take_count_error};
use crate::web::console::jobs::query::ListQuery;
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::forms::moment::moment;
use crate::web::forms::{Fields, Form};
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, PageResult, refused, render};
use crate::web::state::{Shared, State};

/// Words, the keys of their labels in the list, and whether only an editor may do it.
pub const ACTIONS: [(&str, &str, bool); 7] = [
    ("pause", "pause", false),
    ("resume", "resume", false),
    ("run", "run-now", false),
    ("move", "move-to-app", true),
    ("add_tag", "tag-add", true),
    ("remove_tag", "tag-remove", true),
    ("delete", "delete", true),
];

/// Jobs that the question names.
const NAMED: usize = 10;

#[derive(Template)]
#[template(path = "jobs/bulk.html")]
struct Page {
    context: PageContext,
    form: Form,
    query: ListQuery,
    action: String,
    count: usize,
    /// The first of them.
    names: Vec<ChildJob>,
    /// If they are to be deleted: the first of the other jobs that have one of them as a child.
    parents: Vec<ChildJob>,
    more_parents: usize,
    apps: Vec<App>,
    back: String,
}

impl Page {
    /// `Pause 3 jobs`
    fn what(&self) -> Message {
        what(&self.context, &self.action, self.count)
    }

    fn unnamed(&self) -> usize {
        self.count.saturating_sub(self.names.len())
    }

    fn selection(&self) -> Vec<(&'static str, String)> {
        hidden_fields(&self.form, &self.query.filters())
    }
}

fn what(context: &PageContext, action: &str, count: usize) -> Message {
    let key = match action {
        "pause" => "jobs-pause",
        "resume" => "jobs-resume",
        "run" => "jobs-run",
        "move" => "jobs-move",
        "add_tag" => "jobs-tag-add",
        "remove_tag" => "jobs-tag-remove",
        _ => "jobs-delete",
    };
    context.t(key).count("count", count)
}

/// `POST /jobs/bulk`: `step` `ask` shows the number of jobs and what the action needs, `do` does it.
pub async fn bulk(state: Shared, by: Caller, context: PageContext, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let query = ListQuery::of_form(&form);
    let (filter, wrong) = query.filter(&state, &context).await?;
    if let Some((label, message)) = wrong.first() {
        return Err(PageError::Bad(context.fault(context.t(label), message).to_string()));
    }
    let back = query.address(None);
    let selection = selection(&form, filter);
    if selection == Selection::Ids(vec![]) {
        return Ok(refused(&back, context.t("jobs-select-first")));
    }
    if form.is("step", "do") {
        let action = action(&mut form, &context)?;
        if form.is_valid() {
            let key = form.value("key").to_owned();
            let request = JobBulkRequest {
                selection: &selection,
                action,
                expected: form.value("count").parse().ok(),
                idempotency_key: Some(key.as_str()).filter(|key| !key.is_empty()),
            };
            match state.engine.jobs().do_with_all(request, &by.0).await {
                Ok(outcome) => {
                    let what = what(&context, form.value("action"), outcome.done);
                    return answer(context, outcome, ("/jobs", &back), what);
                }
                Err(error @ Error::Forbidden(_)) => return Err(error.into()),
                Err(error) => take_count_error(&mut form, error)?,
            }
        }
    }
    question(&state, by, context, (form, query), &selection).await
}

fn selection(form: &Form, filter: JobFilter) -> Selection<JobFilter> {
    match form.is("all", "yes") {
        true => Selection::Filter(filter),
        false => Selection::Ids(ids_of(form)),
    }
}

async fn question(
    state: &State,
    by: Caller,
    context: PageContext,
    (mut form, query): (Form, ListQuery),
    selection: &Selection<JobFilter>,
) -> PageResult {
    let action = known(&form)?.to_owned();
    let ids = state.engine.jobs().selected(selection, &by.0).await?;
    let names = child_jobs::by_id(&state.store, &ids[..ids.len().min(NAMED)], &context.visible()).await?;
    let count = ids.len();
    let mut parents = match action.as_str() {
        "delete" => state.store.jobs().parents_of(&ids).await?,
        _ => vec![],
    };
    parents.retain(|id| !ids.contains(id));
    let more_parents = parents.len().saturating_sub(NAMED);
    parents.truncate(NAMED);
    let parents = child_jobs::by_id(&state.store, &parents, &context.visible()).await?;
    let mut apps = state.store.apps().list(&context.visible()).await?;
    apps.retain(|app| context.may_edit(&app.id));
    let status = form.status();
    if form.value("key").is_empty() {
        form.set("key", random_secret());
    }
    let back = query.address(None);
    Ok(render(&Page { context, form, query, action, count, names, parents, more_parents, apps, back }, status))
}

fn known(form: &Form) -> Result<&'static str, PageError> {
    let found = ACTIONS.iter().find(|(word, ..)| form.is("action", word));
    found.map(|(word, ..)| *word).ok_or_else(|| PageError::Bad("There is no such action for jobs".into()))
}

/// What is missing becomes an error of the form.
fn action(form: &mut Form, context: &PageContext) -> Result<JobAction, PageError> {
    Ok(match known(form)? {
        "pause" => {
            let ends_at = moment(form, "until", context.zone);
            JobAction::Pause(PauseNote { note: form.value("note").to_owned(), ends_at })
        }
        "resume" => JobAction::Resume,
        "run" => JobAction::Run(Cause::Manual),
        "move" => {
            if form.value("to").is_empty() {
                form.add_error("app", "Choose the app to move them to.");
            }
            JobAction::Move(form.value("to").to_owned())
        }
        "add_tag" => JobAction::AddTag(form.value("new_tag").trim().to_owned()),
        "remove_tag" => JobAction::RemoveTag(form.value("new_tag").trim().to_owned()),
        _ => JobAction::Delete,
    })
}
