//! The definitions that a job has had: who changed what and when.

use actix_web::web::Path;
use askama::Template;
use carillon_inspect::explain::action_text;
use carillon_store::Job;
use carillon_store::job::revisions::Revision;
use serde_json::json;

use crate::web::console::audit::members::{ChangeLine, change_lines};
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

/// Changed members that are shown without a click.
const OPEN: usize = 6;
/// Changes of a page.
const MOST: usize = 200;

struct Row {
    revision: Revision,
    /// `update`.
    action: String,
    changes: Vec<ChangeLine>,
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

/// `GET /jobs/{id}/history`
pub async fn page(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let (job, found) = state.engine.jobs().history(*id, &context.actor).await?;
    let is_cut = found.len() > MOST;
    let may_edit = context.may_edit(&job.app_id);
    let row = |revision: Revision| {
        let detail = json!({"before": revision.before, "after": revision.after});
        let number = revision.number.filter(|number| *number != job.revision);
        Row {
            action: action_text(context.language, &revision.change.action),
            changes: change_lines(&context, "job", &detail),
            restorable: number.filter(|_| may_edit && revision.is_known()),
            revision,
        }
    };
    let rows = found.into_iter().take(MOST).map(row).collect();
    Ok(show(&Page { rows, is_cut, job, context }))
}
