//! An executor: its weight and labels, whether it drains, and its removal.

use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use carillon_engine::manage::Executors;
use carillon_protocol::normal_address;
use carillon_store::App;
use carillon_store::app::executors::Executor;
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageError, PageResult, done, render, show};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "apps/executor.html")]
struct Page {
    context: PageContext,
    app: App,
    executor: Executor,
    form: Form,
    /// Runs that may be under way at its address, while it drains.
    open_runs: i64,
}

impl Page {
    async fn new(
        state: &State,
        context: PageContext,
        (app, executor): (App, Executor),
        form: Form,
    ) -> Result<Self, PageError> {
        let open_runs = match executor.is_draining() {
            true => state.engine.executors().open_runs().await?.remove(&executor.address).unwrap_or(0),
            false => 0,
        };
        Ok(Self { context, app, executor, form, open_runs })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ExecutorQuery {
    address: String,
}

async fn find(state: &State, id: i64, address: &str) -> Result<(App, Executor), PageError> {
    let app = state.engine.apps().get(id).await?;
    let mut executors = state.store.apps().executors_of(&app.name).await?.into_iter();
    let address = normal_address(address);
    let executor = executors.find(|executor| executor.address == address);
    Ok((app, executor.ok_or(PageError::Missing("executor".to_owned()))?))
}

/// `GET /apps/{id}/executor?address=`
pub async fn edit(state: Shared, context: PageContext, id: Path<i64>, query: Query<ExecutorQuery>) -> PageResult {
    let (app, executor) = find(&state, *id, &query.address).await?;
    let weight = executor.set.weight.map_or_else(String::new, |it| it.to_string());
    let form =
        Form::default().with("weight", weight).with("labels", executor.set.labels.as_deref().unwrap_or_default());
    Ok(show(&Page::new(&state, context, (app, executor), form).await?))
}

/// `POST /apps/{id}/executor`
pub async fn update(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let (app, executor) = find(&state, *id, form.value("address")).await?;
    // An empty field means the value that the executor registers with.
    let weight = form.optional_number("weight", 1);
    let labels = form.given("labels");
    if form.is("step", "preview") || !form.is_valid() {
        form.accept(Executors::check(weight, labels.as_deref()))?;
    } else {
        let set = state.engine.executors().set(*id, &executor.address, weight, labels.as_deref(), &by.0).await;
        if form.accept(set)?.is_some() {
            return Ok(done("/apps", context.t("executor-is-saved").with("address", &executor.address)));
        }
    }
    let status = if form.is("step", "preview") { StatusCode::OK } else { form.status() };
    Ok(render(&Page::new(&state, context, (app, executor), form).await?, status))
}

/// `POST /apps/{id}/executor/drain`
pub async fn drain(state: Shared, by: Caller, context: PageContext, id: Path<i64>, fields: Fields) -> PageResult {
    let (address, is_draining) = (fields.get("address"), fields.get("draining") == "yes");
    let set = state.engine.executors().set_draining(*id, address, is_draining, &by.0).await?;
    let text = context.t(if is_draining { "executor-is-drained" } else { "executor-is-undrained" });
    Ok(done("/apps", text.with("address", set.address)))
}

/// `POST /apps/{id}/executor/remove`
pub async fn remove(state: Shared, by: Caller, context: PageContext, id: Path<i64>, fields: Fields) -> PageResult {
    let address = fields.get("address");
    state.engine.executors().remove(*id, address, &by.0).await?;
    Ok(done("/apps", context.t("executor-is-removed").with("address", address)))
}
