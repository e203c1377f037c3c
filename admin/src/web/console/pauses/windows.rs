//! A new maintenance window, and the end of one.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Error, PAUSE_NOTE_CHARS, WindowRequest};
use carillon_scheduler::Weekday;
use carillon_store::App;

use crate::web::access::Caller;
use crate::web::console::pauses::list::chosen_app;
use crate::web::forms::Form;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageResult, done, redirect_with_flash, render};
use crate::web::state::{Shared, State};
use crate::web::text::names::weekday_name;
use crate::web::text::weekly::weekly_expression;

/// The form's fields and the keys of their labels.
const LABELS: &[(&str, &str)] = &[
    ("app", "pause-what"),
    ("note", "why"),
    ("weekdays", "window-weekdays"),
    ("start", "window-start"),
    ("expression", "window-expression"),
    ("timezone", "window-zone"),
    ("minutes", "window-duration"),
];
/// A rule in place of one whose fields are wrong, so that the other fields are checked.
const STAND_IN: &str = "0 0 2 ? * SUN";

#[derive(Template)]
#[template(path = "pauses/window.html")]
struct Page {
    context: PageContext,
    form: Form,
    /// Apps that the viewer may pause.
    apps: Vec<App>,
}

impl Page {
    const fn weekdays(&self) -> &'static [Weekday] {
        Weekday::ALL
    }

    fn weekday(&self, day: &Weekday) -> Message {
        weekday_name(self.context.language, *day)
    }

    /// The key of a field's label.
    fn label(&self, name: &str) -> &'static str {
        LABELS.iter().find(|(field, _)| *field == name).map_or("window-begin", |(_, label)| label)
    }

    const fn note_chars(&self) -> usize {
        PAUSE_NOTE_CHARS
    }
}

async fn page(state: &State, by: &Caller, context: PageContext, form: Form, status: StatusCode) -> PageResult {
    let mut apps = state.store.apps().list(&by.visible()).await?;
    apps.retain(|app| context.may_operate(&app.id));
    Ok(render(&Page { context, form, apps }, status))
}

/// `GET /pauses/windows/new`
pub async fn new(state: Shared, by: Caller, context: PageContext) -> PageResult {
    let form = Form::default().with("rule", "weekly").with("start", "02:00").with("timezone", context.zone_name());
    page(&state, &by, context, form, StatusCode::OK).await
}

/// `POST /pauses/windows`
pub async fn create(state: Shared, by: Caller, context: PageContext, mut form: Form) -> PageResult {
    let app_id = chosen_app(&mut form);
    let expression = match form.is("rule", "cron") {
        true => form.value("expression").to_owned(),
        false => weekly_expression(&form.items("weekdays"), form.value("start")).unwrap_or_else(|wrong| {
            wrong.into_iter().for_each(|(field, message)| form.add_error(field, message));
            STAND_IN.to_owned()
        }),
    };
    if form.value("minutes").trim().is_empty() {
        form.add_error("minutes", "Write how many minutes it lasts.");
    }
    let minutes = form.number("minutes", 1);
    let (note, timezone) = (form.value("note").to_owned(), form.value("timezone").to_owned());
    let request = WindowRequest { app_id, note, expression, timezone, minutes };
    let windows = state.engine.maintenance_windows();
    if form.is_valid() {
        if form.accept(windows.create(request, &by.0).await)?.is_some() {
            return Ok(done("/pauses", context.t("window-is-saved")));
        }
    } else {
        form.add_errors(windows.check(request, &by.0));
    }
    form.sort_errors(LABELS);
    page(&state, &by, context, form, StatusCode::UNPROCESSABLE_ENTITY).await
}

/// `POST /pauses/windows/{id}/end`
pub async fn end(state: Shared, id: Path<i64>, by: Caller, context: PageContext) -> PageResult {
    let ended = state.engine.maintenance_windows().end(*id, &by.0).await;
    answer(ended, &context, "window-is-ended")
}

/// `POST /pauses/windows/{id}/delete`
pub async fn delete(state: Shared, id: Path<i64>, by: Caller, context: PageContext) -> PageResult {
    let deleted = state.engine.maintenance_windows().delete(*id, &by.0).await;
    answer(deleted, &context, "window-is-deleted")
}

/// `done_text`: the key of what is said where it is done.
fn answer(done: Result<(), Error>, context: &PageContext, done_text: &'static str) -> PageResult {
    let (kind, key) = match done {
        Ok(()) => ("ok", done_text),
        Err(Error::Missing(_)) => ("failed", "window-is-gone"),
        Err(error) => return Err(error.into()),
    };
    Ok(redirect_with_flash("/pauses", kind, context.t(key)))
}
