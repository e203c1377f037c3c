//! `/apps`

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::validate_app_name;
use serde::Deserialize;
use utoipa::ToSchema;

use super::error::Error;
use super::extract::{Caller, OBJECT, Query, object, required};
use super::view::{AppView, List};
use crate::store::App;
use crate::web::state::State;

pub async fn list(state: Data<State>, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let apps = state.store.apps().await?;
    Ok(HttpResponse::Ok().json(List::whole(apps.into_iter().map(AppView::from))))
}

/// A new app
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppRequest {
    /// Letters, digits, `-`, `_`, `.`; the first is a letter or a digit
    #[schema(min_length = 4, max_length = 64)]
    name: String,
    /// For people; the name if left out
    #[schema(min_length = 0, max_length = 64)]
    title: Option<String>,
}

pub async fn create(state: Data<State>, query: Query, caller: Caller, payload: Payload) -> Result<HttpResponse, Error> {
    query.finish()?;
    let what = "an app, such as {\"name\":\"billing\",\"title\":\"Billing\"}";
    let new: AppRequest = object(&required(payload, OBJECT, what).await?, what)?;
    validate_app_name(&new.name).map_err(|message| Error::field("name", message))?;
    let title = new.title.as_deref().map_or_else(|| Ok(new.name.clone()), checked_title)?;
    let app = state.store.create_app(&new.name, &title, state.clock.now(), &caller.0).await?;
    Ok(HttpResponse::Created().json(AppView::from(app)))
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

/// # Errors
/// There is no such app.
pub async fn find(state: &State, id: i64) -> Result<App, Error> {
    let missing = || Error::not_found(format!("there is no app {id}"));
    state.store.app(id).await?.ok_or_else(missing)
}
