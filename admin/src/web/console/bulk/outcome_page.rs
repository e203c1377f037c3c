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
        let text = match list {
            "/jobs" => context.t("bulk-done-jobs").with("jobs", context.t("jobs-count").count("count", outcome.done)),
            _ => context.t("bulk-done-runs").with("runs", context.t("runs-count").count("count", outcome.done)),
        };
        return Ok(redirect_with_flash(back, "ok", &text.to_string()));
    }
    Ok(show(&Page { context, outcome, list, is_of_jobs: list == "/jobs" }))
}
