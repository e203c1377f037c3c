//! The definitions that a job has had: who changed what and when, and the way back.

use actix_web::web;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_store::Job;
use carillon_store::job::revisions::Revision;
use serde_json::json;

use crate::web::access::Caller;
use crate::web::console::audit::change::{ChangedMember, changes};
use crate::web::console::audit::words::action_text;
use crate::web::forms::Fields;
use crate::web::forms::job_form::labels;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageResult, redirect_with_flash, show};
use crate::web::state::Shared;

/// Changed members that are shown without a click.
const OPEN: usize = 6;
/// Changes of a page.
const MOST: usize = 200;

struct Row {
    revision: Revision,
    /// `update`.
    action: String,
    changes: Vec<ChangedMember>,
    /// The revision that can be restored by a button.
    restorable: Option<i64>,
}

impl Row {
    fn is_short(&self) -> bool {
        self.changes.len() <= OPEN
    }
}

#[derive(Template)]
#[template(path = "jobs/history.html")]
struct Page {
    context: PageContext,
    job: Job,
    rows: Vec<Row>,
    is_cut: bool,
}

impl Page {
    /// What the form calls the member. None: the form does not have it.
    fn label(&self, change: &ChangedMember) -> Option<Message> {
        let name = change.name.strip_prefix("schedule.").unwrap_or(&change.name);
        let key = match name.split('.').next() {
            Some("retry_delay") => Some("retry-delay"),
            _ => labels().into_iter().find(|(field, _)| *field == name).map(|(_, key)| key),
        };
        key.map(|key| self.context.t(key))
    }
}

/// `GET /jobs/{id}/history`
pub async fn page(state: Shared, context: PageContext, id: web::Path<i64>) -> PageResult {
    let (job, found) = state.engine.jobs().history(*id, &context.actor).await?;
    let is_cut = found.len() > MOST;
    let may_edit = context.may_edit(&job.app_id);
    let row = |revision: Revision| {
        let detail = json!({"before": revision.before, "after": revision.after});
        let number = revision.number.filter(|number| *number != job.revision);
        Row {
            action: action_text(context.language, &revision.change.action),
            changes: changes(&detail, |at| context.full(&at)),
            restorable: number.filter(|_| may_edit && revision.is_known()),
            revision,
        }
    };
    let rows = found.into_iter().take(MOST).map(row).collect();
    Ok(show(&Page { rows, is_cut, job, context }))
}

/// `POST /jobs/{id}/history/{revision}/restore`
pub async fn restore(
    state: Shared,
    by: Caller,
    context: PageContext,
    ids: web::Path<(i64, i64)>,
    fields: Fields,
) -> PageResult {
    let (id, revision) = ids.into_inner();
    let history = format!("/jobs/{id}/history");
    let expected = fields.get("revision").parse().unwrap_or(-1);
    match state.engine.jobs().restore(id, revision, Some(expected), &by.0).await {
        Ok(job) => {
            let text = context.t("job-is-restored").with("name", job.draft.name).with("version", revision);
            Ok(redirect_with_flash(&format!("/jobs/{id}"), "ok", &text.to_string()))
        }
        Err(error @ (Error::Invalid(_) | Error::Unusable(_))) => {
            let why = context.say(&error.to_string());
            let text = context.t("job-not-restored").with("version", revision).with("why", why);
            Ok(redirect_with_flash(&history, "failed", &text.to_string()))
        }
        Err(Error::Changed(_)) => {
            Ok(redirect_with_flash(&history, "failed", &context.t("job-changed-meanwhile").to_string()))
        }
        Err(error) => Err(error.into()),
    }
}
