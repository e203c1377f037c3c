//! One action for many rows of a list: what the forms and pages of jobs and runs have in common. A form names the rows by their
//! ids, or all that match the filter of the list.

use actix_web::HttpResponse;
use askama::Template;
use carillon_accounts::secret::random_secret;
use carillon_engine::manage::{BulkAction, BulkOutcome, BulkRequest, Error, Refusal, Selection};

use crate::web::access::Caller;
use crate::web::console::filters::WrongFilters;
use crate::web::forms::Form;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, done, refused, show};
use crate::web::state::State;

/// Refusals that are named.
const NAMED: usize = 500;

/// The form under a list.
pub struct BulkBar {
    pub action: &'static str,
    /// The label of the box that selects all rows that match the filter.
    pub all: String,
    /// Words, and the keys of their labels.
    pub actions: Vec<(&'static str, &'static str)>,
}

/// A list whose rows can be chosen.
pub struct BulkList<A> {
    pub path: &'static str,
    /// The key of the text where no row is chosen.
    pub select_first: &'static str,
    /// The action of a form. What is missing becomes an error of a form that was confirmed.
    pub action: fn(&mut Form, &PageContext, bool) -> Result<A, PageError>,
    /// The action and the number of rows: `Pause 3 jobs`.
    pub what: fn(&PageContext, &str, usize) -> Message,
}

/// What follows a form.
pub enum Next {
    Answer(HttpResponse),
    /// The page with the number of rows and what the action needs. The ids of the rows.
    Question(Vec<i64>),
}

impl<A: BulkAction + Clone> BulkList<A> {
    /// `step` `do` carries the action out, another one leads to the question. `back`: the address of the list.
    pub async fn next(
        &self,
        state: &State,
        by: &Caller,
        context: &PageContext,
        form: &mut Form,
        (filter, wrong): (A::Filter, WrongFilters),
        back: &str,
    ) -> Result<Next, PageError> {
        if let Some((label, message)) = wrong.first() {
            return Err(PageError::Bad(context.fault(context.t(label), message).to_string()));
        }
        let selection = match form.is("all", "yes") {
            true => Selection::Filter(filter),
            false => Selection::Ids(ids_of(form)),
        };
        if matches!(&selection, Selection::Ids(ids) if ids.is_empty()) {
            return Ok(Next::Answer(refused(back, context.t(self.select_first))));
        }
        let is_confirmed = form.is("step", "do");
        let action = (self.action)(form, context, is_confirmed)?;
        if is_confirmed && form.is_valid() {
            let request = BulkRequest {
                selection: &selection,
                action: action.clone(),
                expected: form.value("count").parse().ok(),
                idempotency_key: Some(form.value("key")).filter(|key| !key.is_empty()),
            };
            match state.engine.do_with_all(request, &by.0).await {
                Ok(outcome) => return Ok(Next::Answer(self.answer(context, form, outcome, back))),
                Err(Error::Invalid(errors)) => form.add_errors(errors),
                Err(Error::Changed(text)) => {
                    form.add_error("count", format!("{text}. Nothing was done; confirm the new number."));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if form.value("key").is_empty() {
            form.set("key", random_secret());
        }
        Ok(Next::Question(state.engine.selected(&selection, &action, &by.0).await?))
    }

    /// The list, if it was done with all rows; otherwise a page that names the others.
    fn answer(&self, context: &PageContext, form: &Form, outcome: BulkOutcome, back: &str) -> HttpResponse {
        if outcome.refused.is_empty() {
            let what = (self.what)(context, form.value("action"), outcome.done);
            return done(back, context.t("bulk-done").with("what", what));
        }
        let context = context.clone();
        show(&Page { context, outcome, list: self.path, is_of_jobs: self.path == "/jobs" })
    }
}

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

/// The ids of the chosen rows.
pub fn ids_of(form: &Form) -> Vec<i64> {
    form.items("id").iter().filter_map(|id| id.parse().ok()).collect()
}

/// The selection as hidden fields of the next form. `filters`: those of the list.
pub fn hidden_fields(form: &Form, filters: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let filters = filters.iter().filter(|(_, value)| !value.is_empty());
    let mut fields: Vec<(&'static str, String)> = filters.map(|(name, value)| (*name, (*value).to_owned())).collect();
    match form.is("all", "yes") {
        true => fields.push(("all", "yes".to_owned())),
        false => fields.extend(ids_of(form).into_iter().map(|id| ("id", id.to_string()))),
    }
    fields
}
