//! `/apps`

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::validate_app_name;
use serde::Deserialize;

use super::body;
use super::caller::Caller;
use super::error::Error;
use super::query::Query;
use super::views::{AppJson, List};
use crate::store::App;
use crate::web::State;

pub async fn list(state: Data<State>, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let apps = state.store.apps().await?;
    Ok(HttpResponse::Ok().json(List::<_, i64>::whole(apps.into_iter().map(AppJson::from))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewApp {
    name: serde_json::Value,
    #[serde(default)]
    title: serde_json::Value,
}

pub async fn create(state: Data<State>, query: Query, caller: Caller, payload: Payload) -> Result<HttpResponse, Error> {
    query.finish()?;
    let what = "an app, such as {\"name\":\"billing\",\"title\":\"Billing\"}";
    let new: NewApp = body::object(body::required(payload, body::OBJECT, what).await?, what)?;
    let text = |field: &str, value: serde_json::Value| match value {
        serde_json::Value::String(text) => Ok(text),
        other => Err(Error::field(field, format!("{other} is no text"))),
    };
    let name = text("name", new.name)?;
    validate_app_name(&name).map_err(|message| Error::field("name", message))?;
    let title = match new.title {
        serde_json::Value::Null => name.clone(),
        given => checked_title(&text("title", given)?)?,
    };
    let app = state.store.create_app(&name, &title, state.clock.now(), &caller.0).await?;
    Ok(HttpResponse::Created().json(AppJson::from(app)))
}

fn checked_title(title: &str) -> Result<String, Error> {
    let title = title.trim();
    let count = title.chars().count();
    if count > 64 {
        return Err(Error::field("title", format!("has {count} characters; at most 64 are allowed")));
    }
    if title.chars().any(char::is_control) {
        return Err(Error::field("title", "must be one line without control characters"));
    }
    Ok(title.to_owned())
}

/// The app, or that there is none.
pub async fn find(state: &State, id: i64) -> Result<App, Error> {
    let missing = || Error::not_found(format!("there is no app {id}"));
    state.store.app(id).await?.ok_or_else(missing)
}
