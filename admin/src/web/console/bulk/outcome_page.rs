//! What became of an action for many objects.

use askama::Template;
use carillon_engine::manage::{BulkOutcome, Refusal};

use crate::web::locale::Message;
use crate::web::page::{PageContext, PageResult, done, show};

/// Refusals that are named.
const NAMED: usize = 500;

#[derive(Template)]
#[template(path = "bulk/outcome.html")]
struct Page {
    context: PageContext,
    outcome: BulkOutcome,
    list: &'static str,
    is_of_jobs: bool,
}

impl Page {
    fn shown(&self) -> &[Refusal] {
        &self.outcome.refused[..self.outcome.refused.len().min(NAMED)]
    }

    fn hidden(&self) -> usize {
        self.outcome.refused.len().saturating_sub(NAMED)
    }
}

/// The list, if it was done with all of them; otherwise a page that names the others. `what`: the action and the number of objects.
pub fn answer(
    context: PageContext,
    outcome: BulkOutcome,
    (list, back): (&'static str, &str),
    what: Message,
) -> PageResult {
    if outcome.refused.is_empty() {
        let text = context.t("bulk-done").with("what", what);
        return Ok(done(back, text));
    }
    Ok(show(&Page { context, outcome, list, is_of_jobs: list == "/jobs" }))
}
