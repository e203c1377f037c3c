//! A new maintenance window, and the end of one.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Error, PAUSE_NOTE_CHARS, WindowRequest};
use carillon_scheduler::Weekday;
use carillon_store::App;

use crate::web::access::Caller;
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageResult, redirect_with_flash, render};
use crate::web::state::{Shared, State};
use crate::web::text::weekly::weekly_expression;

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

    const fn note_chars(&self) -> usize {
        PAUSE_NOTE_CHARS
    }
}

async fn page(state: &State, by: &Caller, context: PageContext, form: Form, status: StatusCode) -> PageResult {
    let mut apps = state.store.apps(&by.visible()).await?;
    apps.retain(|app| context.may_operate(&app.id));
    Ok(render(&Page { context, form, apps }, status))
}

/// `GET /pauses/windows/new`
pub async fn new(state: Shared, by: Caller, context: PageContext) -> PageResult {
    let form = Form::default().with("rule", "weekly").with("start", "02:00").with("timezone", context.zone_name());
    page(&state, &by, context, form, StatusCode::OK).await
}

/// `POST /pauses/windows`
pub async fn create(state: Shared, by: Caller, context: PageContext, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let app_id = match form.value("app") {
        "all" => None,
        id => match id.parse() {
            Ok(id) => Some(id),
            Err(_) => {
                form.add_error("app", "Choose an app.");
                None
            }
        },
    };
    let is_weekly = !form.is("rule", "cron");
    let expression = match is_weekly {
        true => weekly_expression(&form.items("weekdays"), form.value("start")).unwrap_or_else(|(field, message)| {
            form.add_error(field, message);
            String::new()
        }),
        false => form.value("expression").to_owned(),
    };
    let minutes = form.number("minutes", 0);
    if form.is_valid() {
        let (note, timezone) = (form.value("note").to_owned(), form.value("timezone").to_owned());
        let request = WindowRequest { app_id, note, expression, timezone, minutes };
        match state.engine.maintenance_windows().create(request, &by.0).await {
            Ok(_) => return Ok(redirect_with_flash("/pauses", "ok", "The maintenance window is saved.")),
            Err(Error::Invalid(errors)) => form.add_errors(errors),
            Err(error) => return Err(error.into()),
        }
    }
    page(&state, &by, context, form, StatusCode::UNPROCESSABLE_ENTITY).await
}

/// `POST /pauses/windows/{id}/end`
pub async fn end(state: Shared, id: Path<i64>, by: Caller) -> PageResult {
    let ended = state.engine.maintenance_windows().end(*id, &by.0).await;
    answer(ended, "The maintenance is ended; the next one begins at its time.")
}

/// `POST /pauses/windows/{id}/delete`
pub async fn delete(state: Shared, id: Path<i64>, by: Caller) -> PageResult {
    let deleted = state.engine.maintenance_windows().delete(*id, &by.0).await;
    answer(deleted, "The maintenance window is deleted.")
}

fn answer(done: Result<(), Error>, text: &str) -> PageResult {
    match done {
        Ok(()) => Ok(redirect_with_flash("/pauses", "ok", text)),
        Err(Error::Missing(_)) => {
            Ok(redirect_with_flash("/pauses", "failed", "There is no such maintenance any more."))
        }
        Err(error) => Err(error.into()),
    }
}
