//! One action for many jobs: the question with the number of jobs, and the action.

use askama::Template;
use carillon_engine::manage::JobAction;
use carillon_scheduler::Cause;
use carillon_store::{App, PauseNote};

use crate::web::access::Caller;
use crate::web::console::bulk::{BulkList, Next, hidden_fields};
use crate::web::console::jobs::query::ListQuery;
use crate::web::forms::Form;
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::forms::moment::moment;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, PageResult, render};
use crate::web::state::Shared;

/// Words, the keys of their labels in the list and in the question, and whether only an editor may do it.
pub const ACTIONS: [(&str, &str, &str, bool); 7] = [
    ("pause", "pause", "jobs-pause", false),
    ("resume", "resume", "jobs-resume", false),
    ("run", "run-now", "jobs-run", false),
    ("move", "move-to-app", "jobs-move", true),
    ("add_tag", "tag-add", "jobs-tag-add", true),
    ("remove_tag", "tag-remove", "jobs-tag-remove", true),
    ("delete", "delete", "jobs-delete", true),
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
    let found = ACTIONS.iter().find(|(word, ..)| *word == action);
    context.t(found.map_or("jobs-delete", |(_, _, key, _)| key)).count("count", count)
}

const LIST: BulkList<JobAction> = BulkList { path: "/jobs", select_first: "jobs-select-first", action, what };

/// `POST /jobs/bulk`: `step` `ask` shows the number of jobs and what the action needs, `do` does it.
pub async fn bulk(state: Shared, by: Caller, context: PageContext, mut form: Form) -> PageResult {
    let query = ListQuery::from(&form);
    let (filter, back) = (query.filter(&state, &context).await?, query.address(None));
    let ids = match LIST.next(&state, &by, &context, &mut form, filter, &back).await? {
        Next::Answer(answer) => return Ok(answer),
        Next::Question(ids) => ids,
    };
    let names = child_jobs::by_id(&state.store, &ids[..ids.len().min(NAMED)], &context.visible()).await?;
    let mut parents = match form.value("action") {
        "delete" => state.store.jobs().parents_of(&ids).await?,
        _ => vec![],
    };
    parents.retain(|id| !ids.contains(id));
    let more_parents = parents.len().saturating_sub(NAMED);
    parents.truncate(NAMED);
    let parents = child_jobs::by_id(&state.store, &parents, &context.visible()).await?;
    let mut apps = state.store.apps().list(&context.visible()).await?;
    apps.retain(|app| context.may_edit(&app.id));
    let (status, action, count) = (form.status(), form.value("action").to_owned(), ids.len());
    Ok(render(&Page { context, form, query, action, count, names, parents, more_parents, apps, back }, status))
}

fn action(form: &mut Form, context: &PageContext, is_confirmed: bool) -> Result<JobAction, PageError> {
    Ok(match form.value("action") {
        "pause" => {
            let ends_at = moment(form, "until", context.zone);
            JobAction::Pause(PauseNote { note: form.value("note").to_owned(), ends_at })
        }
        "resume" => JobAction::Resume,
        "run" => JobAction::Run(Cause::Manual),
        "move" => {
            if is_confirmed && form.value("to").is_empty() {
                form.add_error("app", "Choose the app to move them to.");
            }
            JobAction::Move(form.value("to").to_owned())
        }
        "add_tag" => JobAction::AddTag(form.value("new_tag").trim().to_owned()),
        "remove_tag" => JobAction::RemoveTag(form.value("new_tag").trim().to_owned()),
        "delete" => JobAction::Delete,
        _ => return Err(PageError::Bad("There is no such action for jobs".into())),
    })
}
