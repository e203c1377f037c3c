//! What became of an action for many objects.

use askama::Template;
use carillon_engine::manage::{BulkOutcome, Refusal};

use crate::web::page::{PageContext, PageResult, redirect_with_flash, show};

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

/// The list, if it was done with all of them; otherwise a page that names the others.
pub fn answer(context: PageContext, outcome: BulkOutcome, list: &'static str, back: &str) -> PageResult {
    if outcome.refused.is_empty() {
        let text = context.t(if list == "/jobs" { "bulk-done-jobs" } else { "bulk-done-runs" });
        return Ok(redirect_with_flash(back, "ok", &text.count("count", outcome.done).to_string()));
    }
    Ok(show(&Page { context, outcome, list, is_of_jobs: list == "/jobs" }))
}
