//! A new app.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web;
use askama::Template;
use carillon_engine::manage::Error;
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::forms::{Fields, Form};
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
pub async fn new(context: PageContext, defaults: web::Query<FormDefaults>) -> HttpResponse {
    let form = Form::default().with("name", &defaults.name);
    show(&NewPage { context, form })
}

/// `POST /apps`
pub async fn create(state: Shared, by: Caller, context: PageContext, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    if form.is("step", "preview") {
        return Ok(show(&NewPage { context, form }));
    }
    let title = Some(form.value("title").trim()).filter(|title| !title.is_empty());
    match state.engine.apps().create(form.value("name").trim(), title, &by.0).await {
        Ok(app) => {
            let text = context.t("app-is-created").with("name", app.name).to_string();
            return Ok(done("/apps", &text));
        }
        Err(Error::Invalid(errors)) => form.add_errors(errors),
        Err(Error::Taken(_)) => form.add_error("name", "There is an app of this name already."),
        Err(error) => return Err(error.into()),
    }
    Ok(render(&NewPage { context, form }, StatusCode::UNPROCESSABLE_ENTITY))
}
