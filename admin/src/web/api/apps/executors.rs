//! `/apps/{id}/executors`: the executors, those whose address a person enters, and what operators set for them.

use actix_web::web::Json;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, ObjectBody, Query};
use crate::web::api::view::{ExecutorView, List};
use crate::web::state::Shared;

pub async fn list(state: Shared, id: Id) -> Answer<List<ExecutorView>> {
    let app = state.engine.apps().get(id.0).await?;
    let now = state.clock.now();
    let executors = state.store.executors_of(&app.name).await?.into_iter();
    Ok(Json(List::whole(executors.map(|executor| ExecutorView::new(executor, now)))))
}

/// What is set for an executor. A member that is null or left out leaves it to the executor
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutorUpdate {
    /// One that has registered for the app
    #[schema(min_length = 1, max_length = 255)]
    address: String,
    /// Its share of jobs with the route `weighted`
    #[schema(minimum = 1, maximum = 100)]
    weight: Option<i64>,
    /// `key=value,key2=value2`; `""`: none, even if it announces some
    #[schema(min_length = 0, max_length = 255)]
    labels: Option<String>,
}

impl ObjectBody for ExecutorUpdate {
    const WHAT: &'static str =
        "an executor's address, weight and labels, such as {\"address\":\"http://10.0.0.5:9999/\",\"weight\":3}";
}

pub async fn update(state: Shared, id: Id, caller: Caller, body: Body<ExecutorUpdate>) -> Answer<ExecutorView> {
    let ExecutorUpdate { address, weight, labels } = body.0;
    let set = state.engine.executors().set(id.0, &address, weight, labels.as_deref(), &caller.0).await?;
    Ok(Json(ExecutorView::new(set, state.clock.now())))
}

/// The address of an executor that need not register
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewExecutor {
    /// `http(s)://host:port`, with at most a plain path
    #[schema(min_length = 1, max_length = 255)]
    address: String,
}

impl ObjectBody for NewExecutor {
    const WHAT: &'static str = "an executor's address, such as {\"address\":\"http://10.0.0.5:9999/\"}";
}

pub async fn enter(
    state: Shared,
    id: Id,
    caller: Caller,
    body: Body<NewExecutor>,
) -> Result<Created<ExecutorView>, Error> {
    let entered = state.engine.executors().enter(id.0, &body.0.address, &caller.0).await?;
    Ok(Created::new(ExecutorView::new(entered, state.clock.now())))
}

/// Whether an executor gets new runs
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DrainUpdate {
    /// One of the app's executors
    #[schema(min_length = 1, max_length = 255)]
    address: String,
    /// It gets no new runs
    draining: bool,
}

impl ObjectBody for DrainUpdate {
    const WHAT: &'static str = "an executor's address, and whether it drains, such as {\"address\":\"http://10.0.0.5:9999/\",\"draining\":true}";
}

pub async fn drain(state: Shared, id: Id, caller: Caller, body: Body<DrainUpdate>) -> Answer<ExecutorView> {
    let DrainUpdate { address, draining } = body.0;
    let set = state.engine.executors().set_draining(id.0, &address, draining, &caller.0).await?;
    Ok(Json(ExecutorView::new(set, state.clock.now())))
}

pub async fn remove(state: Shared, id: Id, caller: Caller, query: Query) -> Result<NoContent, Error> {
    let address = query.text("address")?;
    let address = address.ok_or_else(|| Error::field("address", "is missing; write the executor's address"))?;
    state.engine.executors().remove(id.0, &address, &caller.0).await?;
    Ok(NoContent)
}
