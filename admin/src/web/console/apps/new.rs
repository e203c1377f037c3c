//! A new app.

use actix_web::http::StatusCode;
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use carillon_scheduler::validate_app_name;
use serde::Deserialize;

use crate::store::Error;
use crate::web::console::actor::actor;
use crate::web::console::error_page::PageError;
use crate::web::forms::fields::Fields;
use crate::web::forms::form::Form;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::answer::render;
use crate::web::page::context::PageContext;
use crate::web::page::flash::redirect_with_flash;
use crate::web::state::State;

const TITLE_MAX: usize = 64;

#[derive(Template)]
#[template(path = "apps/new.html")]
struct NewPage {
    context: PageContext,
    form: Form,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct FormDefaults {
    name: String,
}

/// `GET /apps/new`
pub async fn new(context: PageContext, defaults: web::Query<FormDefaults>) -> HttpResponse {
    let form = Form::default().with("name", &defaults.name);
    render(&NewPage { context, form }, StatusCode::OK)
}

/// `POST /apps`
pub async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    context: PageContext,
    fields: Fields,
) -> Result<HttpResponse, PageError> {
    let mut form = Form::from(fields);
    let name = form.value("name").trim().to_owned();
    let title = Some(form.value("title").trim().to_owned()).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| name.clone());
    if let Err(message) = validate_app_name(&name) {
        form.add_error("name", message);
    }
    if title.chars().count() > TITLE_MAX || title.chars().any(char::is_control) {
        form.add_error("title", format!("must be one line of at most {TITLE_MAX} characters"));
    }
    if form.is("step", "preview") {
        return Ok(render(&NewPage { context, form }, StatusCode::OK));
    }
    if form.is_valid() {
        let actor = actor(&viewer, &request);
        match state.store.create_app(&name, &title, context.now, &actor).await {
            Ok(app) => {
                state.engine.executors_changed();
                return Ok(redirect_with_flash("/apps", "ok", &format!("The app {} is created.", app.name)));
            }
            Err(Error::Taken(_)) => form.add_error("name", "There is an app of this name already."),
            Err(error) => return Err(error.into()),
        }
    }
    let page = NewPage { context, form };
    Ok(render(&page, StatusCode::UNPROCESSABLE_ENTITY))
}
