//! The weight and labels that an operator sets for an executor.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use serde::Deserialize;

use crate::store::App;
use crate::store::app::executors::Executor;
use crate::web::console::actor::actor;
use crate::web::console::error_page::PageError;
use crate::web::forms::executor_form;
use crate::web::forms::fields::Fields;
use crate::web::forms::form::Form;
use crate::web::guard::session_cookie::Viewer;
use crate::web::page::answer::render;
use crate::web::page::context::PageContext;
use crate::web::page::flash::redirect_with_flash;
use crate::web::state::State;

#[derive(Template)]
#[template(path = "apps/executor.html")]
struct Page {
    context: PageContext,
    app: App,
    executor: Executor,
    form: Form,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ExecutorQuery {
    address: String,
}

async fn find(state: &State, id: i64, address: &str) -> Result<(App, Executor), PageError> {
    let app = state.store.app(id).await?.ok_or(PageError::Missing("app"))?;
    let mut executors = state.store.executors_of(&app.name).await?.into_iter();
    let executor = executors.find(|executor| executor.address == address);
    Ok((app, executor.ok_or(PageError::Missing("executor"))?))
}

/// `GET /apps/{id}/executor?address=`
pub async fn edit(
    state: web::Data<State>,
    context: PageContext,
    id: web::Path<i64>,
    query: web::Query<ExecutorQuery>,
) -> Result<HttpResponse, PageError> {
    let (app, executor) = find(&state, *id, &query.address).await?;
    let weight = executor.set.weight.map_or_else(String::new, |it| it.to_string());
    let form =
        Form::default().with("weight", weight).with("labels", executor.set.labels.as_deref().unwrap_or_default());
    let page = Page { context, app, executor, form };
    Ok(render(&page, StatusCode::OK))
}

/// `POST /apps/{id}/executor`
pub async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    context: PageContext,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, PageError> {
    let mut form = Form::from(fields);
    let (app, executor) = find(&state, *id, form.value("address")).await?;
    let traits = executor_form::traits(&mut form);
    let is_shown_again = form.is("step", "preview");
    if is_shown_again || !form.is_valid() {
        let page = Page { context, app, executor, form };
        let status = match is_shown_again {
            true => StatusCode::OK,
            false => StatusCode::UNPROCESSABLE_ENTITY,
        };
        return Ok(render(&page, status));
    }
    let (actor, address) = (actor(&viewer, &request), &executor.address);
    state.store.set_executor_traits(&app, address, &traits, context.now, &actor).await?;
    state.engine.executors_changed();
    let text = format!("The settings of {address} are saved.");
    Ok(redirect_with_flash("/apps", "ok", &text))
}
