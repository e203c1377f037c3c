//! A new app.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Query;
use askama::Template;
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageResult, done, render, show};
use crate::web::state::Shared;

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
pub async fn new(context: PageContext, defaults: Query<FormDefaults>) -> HttpResponse {
    let form = Form::default().with("name", &defaults.name);
    show(&NewPage { context, form })
}

/// `POST /apps`
pub async fn create(state: Shared, by: Caller, context: PageContext, mut form: Form) -> PageResult {
    if form.is("step", "preview") {
        return Ok(show(&NewPage { context, form }));
    }
    let title = form.given("title");
    let made = state.engine.apps().create(form.value("name").trim(), title.as_deref(), &by.0).await;
    if let Some(app) = form.accept_named("There is an app of this name already.", made)? {
        return Ok(done("/apps", context.t("app-is-created").with("name", app.name)));
    }
    Ok(render(&NewPage { context, form }, StatusCode::UNPROCESSABLE_ENTITY))
}
