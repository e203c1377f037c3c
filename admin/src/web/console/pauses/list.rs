//! Pauses of apps: those in force and ahead, a new one, and the end of one. The maintenance windows are below them.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::{Error, PAUSE_NOTE_CHARS, PauseRequest, PlannedWindow};
use carillon_store::App;
use carillon_store::app::pauses::Pause;

use crate::web::access::Caller;
use crate::web::forms::Form;
use crate::web::forms::moment::moment;
use crate::web::page::{PageContext, PageResult, done, refused, render};
use crate::web::state::Shared;
use crate::web::text::format::period;
use crate::web::text::weekly::weekly_text;

#[derive(Template)]
#[template(path = "pauses/list.html")]
struct Page {
    context: PageContext,
    form: Form,
    pauses: Vec<Pause>,
    windows: Vec<PlannedWindow>,
    /// Of which the viewer sees the name.
    apps: Vec<App>,
}

impl Page {
    fn may_change(&self, app_id: Option<&i64>) -> bool {
        match app_id {
            Some(id) => self.context.may_operate(id),
            None => self.context.may_operate_installation(),
        }
    }

    /// Apps that the viewer may pause.
    fn choices(&self) -> impl Iterator<Item = &App> {
        self.apps.iter().filter(|app| self.context.may_operate(&app.id))
    }

    fn may_pause(&self) -> bool {
        self.context.may_operate_installation() || self.choices().next().is_some()
    }

    /// The days and the time of a window of the week; of another one, its expression.
    fn when(&self, window: &PlannedWindow) -> String {
        let expression = &window.window.expression;
        weekly_text(self.context.language, expression).unwrap_or_else(|| expression.clone())
    }

    fn lasts(&self, window: &PlannedWindow) -> String {
        period(self.context.language, i64::from(window.window.minutes) * 60)
    }

    const fn note_chars(&self) -> usize {
        PAUSE_NOTE_CHARS
    }
}

/// `GET /pauses`
pub async fn list(state: Shared, by: Caller, context: PageContext) -> PageResult {
    page(&state, &by, context, Form::default(), StatusCode::OK).await
}

async fn page(state: &Shared, by: &Caller, context: PageContext, form: Form, status: StatusCode) -> PageResult {
    let apps = state.store.apps().list(&by.visible()).await?;
    let pauses = state.engine.pauses().list(&by.0).await?;
    let windows = state.engine.maintenance_windows().list(&by.0).await?;
    Ok(render(&Page { context, form, pauses, windows, apps }, status))
}

/// The app whose schedules are paused; None: all apps.
pub(super) fn chosen_app(form: &mut Form) -> Option<i64> {
    let chosen = form.value("app");
    let id = chosen.parse().ok();
    if id.is_none() && chosen != "all" {
        form.add_error("app", "Choose an app.");
    }
    id
}

/// `POST /pauses`
pub async fn create(state: Shared, by: Caller, context: PageContext, mut form: Form) -> PageResult {
    let from = moment(&mut form, "from", context.zone);
    let until = moment(&mut form, "until", context.zone);
    let app_id = chosen_app(&mut form);
    let request = PauseRequest { app_id, note: form.value("note").to_owned(), from, until };
    if form.is_valid() {
        if form.accept(state.engine.pauses().create(request, &by.0).await)?.is_some() {
            return Ok(done("/pauses", context.t("pause-is-saved")));
        }
    } else {
        form.add_errors(state.engine.pauses().check(&request));
    }
    page(&state, &by, context, form, StatusCode::UNPROCESSABLE_ENTITY).await
}

/// `POST /pauses/{id}/end`
pub async fn end(state: Shared, id: Path<i64>, by: Caller, context: PageContext) -> PageResult {
    match state.engine.pauses().end(*id, &by.0).await {
        Ok(()) => Ok(done("/pauses", context.t("pause-is-ended"))),
        Err(Error::Missing(_)) => Ok(refused("/pauses", context.t("pause-ended-already"))),
        Err(error) => Err(error.into()),
    }
}
