//! An app: the addresses of executors that people enter.

use actix_web::web;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_store::App;
use carillon_store::app::executors::Executor;

use crate::web::access::Caller;
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageResult, redirect_with_flash, render};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "apps/page.html")]
struct Page {
    context: PageContext,
    app: App,
    /// Whose address a person has entered.
    entered: Vec<Executor>,
    form: Form,
}

async fn show(state: &State, context: PageContext, id: i64, form: Form) -> PageResult {
    let app = state.engine.apps().get(id).await?;
    let mut entered = state.store.executors_of(&app.name).await?;
    entered.retain(|executor| executor.manual_since.is_some());
    let status = form.status();
    Ok(render(&Page { context, app, entered, form }, status))
}

/// `GET /apps/{id}`
pub async fn page(state: Shared, context: PageContext, id: web::Path<i64>) -> PageResult {
    show(&state, context, *id, Form::default()).await
}

/// `POST /apps/{id}/executors`
pub async fn enter(state: Shared, by: Caller, context: PageContext, id: web::Path<i64>, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    match state.engine.executors().enter(*id, form.value("address").trim(), &by.0).await {
        Ok(entered) => {
            let text = format!("{} is entered. All nodes use it within two seconds.", entered.address);
            return Ok(redirect_with_flash(&format!("/apps/{id}"), "ok", &text));
        }
        Err(Error::Invalid(errors)) => form.add_errors(errors),
        Err(Error::InUse(text)) => form.add_error("address", text),
        Err(error) => return Err(error.into()),
    }
    show(&state, context, *id, form).await
}
