//! `/apps/{id}/executors`: the registered executors, and what operators set for them.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::Labels;
use carillon_scheduler::route::{LabelError, check_weight};
use serde::Deserialize;
use utoipa::ToSchema;

use super::apps;
use super::error::Error;
use super::extract::{Caller, Id, OBJECT, Query, object, required};
use super::view::{ExecutorView, List};
use crate::store::app::executors::Traits;
use crate::web::state::State;

pub async fn list(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let app = apps::find(&state, id.0).await?;
    let now = state.clock.now();
    let executors = state.store.executors_of(&app.name).await?.into_iter();
    let items = executors.map(|executor| ExecutorView::new(executor, now));
    Ok(HttpResponse::Ok().json(List::whole(items)))
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
    /// `key=value,key2=value2`; `""`: none, whatever it announces
    #[schema(min_length = 0, max_length = 255)]
    labels: Option<String>,
}

pub async fn update(
    state: Data<State>,
    id: Id,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let app = apps::find(&state, id.0).await?;
    let what = "an executor's address, weight and labels, such as {\"address\":\"http://10.0.0.5:9999/\",\"weight\":3}";
    let update: ExecutorUpdate = object(&required(payload, OBJECT, what).await?, what)?;
    let address = update.address;
    let traits = Traits {
        weight: update.weight.map(weight).transpose()?,
        labels: update.labels.map(|text| labels(&text)).transpose()?,
    };
    let find = async || {
        let executors = state.store.executors_of(&app.name).await?;
        let missing = || {
            let text = format!("no executor of app {} has registered {address}", app.name);
            Error::field("address", text)
        };
        executors.into_iter().find(|executor| executor.address == address).ok_or_else(missing)
    };
    find().await?;
    let now = state.clock.now();
    state.store.set_executor_traits(&app, &address, &traits, now, &caller.0).await?;
    state.engine.executors_changed();
    Ok(HttpResponse::Ok().json(ExecutorView::new(find().await?, now)))
}

fn weight(number: i64) -> Result<i32, Error> {
    let weight = check_weight(number).map_err(|message| Error::field("weight", message))?;
    Ok(weight.cast_signed())
}

fn labels(text: &str) -> Result<String, Error> {
    let labels: Labels = text.parse().map_err(|error: LabelError| Error::field("labels", error.to_string()))?;
    Ok(labels.to_string())
}
