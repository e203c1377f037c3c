//! `/apps/{id}/executors`: who has registered, and what operators set of them.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::route::check_weight;
use carillon_scheduler::{Labels, Millis};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::apps;
use super::body;
use super::caller::Caller;
use super::error::Error;
use super::params::Id;
use super::query::Query;
use super::time;
use super::views::List;
use crate::store::executor::{Executor, Traits};
use crate::web::State;

#[derive(Serialize)]
struct ExecutorJson {
    address: String,
    /// Of our own SDK, or any other.
    own: bool,
    live: bool,
    weight: u32,
    labels: String,
    announced: TraitsJson,
    set: TraitsJson,
    #[serde(serialize_with = "time::required")]
    registered_at: Millis,
    #[serde(serialize_with = "time::required")]
    seen_at: Millis,
    #[serde(serialize_with = "time::required")]
    expires_at: Millis,
}

#[derive(Serialize)]
struct TraitsJson {
    weight: Option<i32>,
    labels: Option<String>,
}

impl From<Traits> for TraitsJson {
    fn from(Traits { weight, labels }: Traits) -> Self {
        Self { weight, labels }
    }
}

impl ExecutorJson {
    fn of(executor: Executor, now: Millis) -> Self {
        Self {
            own: executor.boot_id.is_some(),
            live: executor.is_live(now),
            weight: executor.weight(),
            labels: executor.labels().to_string(),
            address: executor.address,
            announced: executor.announced.into(),
            set: executor.set.into(),
            registered_at: executor.registered_at,
            seen_at: executor.seen_at,
            expires_at: executor.expires_at,
        }
    }
}

pub async fn list(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let app = apps::find(&state, id.0).await?;
    let now = state.clock.now();
    let executors = state.store.executors_of(&app.name).await?.into_iter();
    let items = executors.map(|executor| ExecutorJson::of(executor, now));
    Ok(HttpResponse::Ok().json(List::<_, i64>::whole(items)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    address: Value,
    #[serde(default)]
    weight: Value,
    #[serde(default)]
    labels: Value,
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
    let update: Update = body::object(body::required(payload, body::OBJECT, what).await?, what)?;
    let Value::String(address) = update.address else {
        return Err(Error::field("address", format!("{} is no text", update.address)));
    };
    let traits = Traits { weight: weight(&update.weight)?, labels: labels(update.labels)? };
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
    state.pipeline.executors_changed();
    Ok(HttpResponse::Ok().json(ExecutorJson::of(find().await?, now)))
}

/// Null or left out: what the executor says.
fn weight(value: &Value) -> Result<Option<i32>, Error> {
    if value.is_null() {
        return Ok(None);
    }
    let wrong = |message: String| Error::field("weight", message);
    let number = value.as_i64().ok_or_else(|| wrong(format!("{value} is not a whole number")))?;
    let weight = check_weight(number).map_err(wrong)?;
    Ok(Some(weight.cast_signed()))
}

fn labels(value: Value) -> Result<Option<String>, Error> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => {
            let wrong = |error: carillon_scheduler::route::LabelError| Error::field("labels", error.to_string());
            let labels: Labels = text.parse().map_err(wrong)?;
            Ok(Some(labels.to_string()))
        }
        other => Err(Error::field("labels", format!("{other} is no text"))),
    }
}
