//! What a definition will do: `/preview` of one that is not saved, `/jobs/{id}/next` of a job.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload, block};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::definition;
use super::list::find;
use crate::store::{self, Job};
use crate::web::api::error::Error;
use crate::web::api::extract::{Id, OBJECT, Query, from_json, required};
use crate::web::api::view::{PreviewView, Time};
use crate::web::around::Around;
use crate::web::state::State;
use crate::web::unsaved;
use carillon_inspect::preview::{self, Preview, Span};

/// The number of instants of a job if the request has none.
pub const NEXT_INSTANTS: u32 = 5;
pub const MAX_INSTANTS: u32 = 1000;

/// The members of a preview that are not members of a job.
#[derive(Deserialize)]
struct Options {
    #[serde(default = "ten")]
    count: u32,
    from: Option<Time>,
    job_id: Option<i64>,
}

const fn ten() -> u32 {
    10
}

/// The instants that the schedule has from now on, whether the job is enabled or not.
pub async fn next(state: Data<State>, id: Id, mut query: Query) -> Result<HttpResponse, Error> {
    let count = query.number("count", NEXT_INSTANTS, MAX_INSTANTS)? as usize;
    let from = query.time("from")?;
    query.finish()?;
    let job = find(&state, id.0).await?;
    let now = state.clock.now();
    let looked = block(move || preview::of_job(&job, from.unwrap_or(now), count, now)).await;
    let preview = looked.map_err(|_| Error::internal())?.map_err(store::Error::Invalid)?;
    Ok(HttpResponse::Ok().json(PreviewView::from(preview)))
}

/// A whole job, or its schedule alone.
pub async fn preview(state: Data<State>, query: Query, payload: Payload) -> Result<HttpResponse, Error> {
    query.finish()?;
    let what = "a job, or {\"schedule\":{…}}, with \"count\" and \"from\" if you like";
    let value = required(payload, OBJECT, what).await?;
    let Value::Object(mut members) = value else {
        return Err(Error::invalid(format!("the body must be {what} as an object")));
    };
    let now = state.clock.now();
    let options = ["count", "from", "job_id"].into_iter().filter_map(|name| members.remove_entry(name));
    let options: Options = from_json(&Value::Object(options.collect()))?;
    if !(1..=MAX_INSTANTS).contains(&options.count) {
        let message = format!("{} is not allowed; a number from 1 to {MAX_INSTANTS}", options.count);
        return Err(Error::field("count", message));
    }
    let from_now = unsaved::from_now(options.count as usize, now);
    let span = Span { from: options.from.map_or(now, |from| from.0), ..from_now };
    let before = match options.job_id {
        Some(id) => Some(find(&state, id).await?),
        None => None,
    };
    let preview = preview_of(&state, members, before.as_ref(), span).await?;
    Ok(HttpResponse::Ok().json(PreviewView::from(preview)))
}

async fn preview_of(
    state: &State,
    mut members: Map<String, Value>,
    before: Option<&Job>,
    span: Span,
) -> Result<Preview, Error> {
    const NEEDED: [&str; 3] = ["app", "name", "handler"];
    let is_whole = NEEDED.iter().any(|name| members.contains_key(*name));
    if !is_whole {
        if !members.contains_key("schedule") {
            return Err(Error::field("schedule", "is missing; it is required"));
        }
        members.extend(NEEDED.map(|name| (name.to_owned(), json!("preview"))));
    }
    let draft = definition::draft(Value::Object(members))?;
    let app = match is_whole {
        true => definition::app_of(&state.store, &draft).await?,
        false => unsaved::placeholder_app(),
    };
    let around = Around::of(state, std::slice::from_ref(&draft), before).await?;
    unsaved::of_draft(around, &app, &draft, before, span).await.map_err(|error| match error {
        unsaved::Error::Fields(errors) => Error::from_fields(errors),
        unsaved::Error::Store(error) => error.into(),
    })
}
