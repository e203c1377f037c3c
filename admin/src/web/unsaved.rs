//! A look at what is not saved yet.

use carillon_scheduler::{FieldError, JobDraft, Millis};

use crate::store::{self, App, Definition, Job};
use crate::web::around::Around;
use carillon_inspect::preview::{Preview, Span, preview};

/// Why there is nothing to look at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the definition is wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Of a schedule that is looked at by itself.
pub fn placeholder_app() -> App {
    App { id: 0, name: "preview".to_owned(), title: String::new(), created_at: 0 }
}

/// Looks at a draft as it would be saved in this app; `before` is the job that it is to change.
///
/// # Errors
/// What is wrong with the draft, one for each member.
pub async fn of_draft(
    mut around: Around,
    app: &App,
    draft: &JobDraft,
    before: Option<&Job>,
    span: Span,
) -> Result<Preview, Error> {
    let (surroundings, chosen) = around.surroundings(app, draft, before, span.now);
    let mut definition = Definition::check_in(surroundings, draft, span.now).map_err(Error::Fields)?;
    if let Some(job) = before {
        definition.keep_anchor(job);
    }
    let fires_left = fires_left(before, &definition);
    let schedule = definition.schedule().map_err(|error| Error::Fields(vec![error]))?;
    let calendars = around.calendars(draft);
    // A thousand instants of a schedule that is slow to answer are no work for a thread that serves others.
    let looked = move || preview(&schedule, &calendars, chosen, Span { fires_left, ..span });
    let looked = tokio::task::spawn_blocking(looked).await;
    Ok(looked.map_err(|error| store::Error::Corrupt(error.to_string()))?)
}

/// As saving would set it.
fn fires_left(before: Option<&Job>, definition: &Definition) -> Option<u32> {
    let schedule = &definition.spec().schedule;
    match before.filter(|job| job.draft.schedule == schedule.draft()) {
        Some(job) => job.fires_left.map(i32::unsigned_abs),
        None => schedule.max_fires(),
    }
}

/// The next `count` instants.
pub fn from_now(count: usize, now: Millis) -> Span {
    Span { from: now, count, fires_left: None, now }
}
