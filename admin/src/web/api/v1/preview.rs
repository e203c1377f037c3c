//! What a definition will do: `/preview` of one that is not saved, `/jobs/{id}/next` of a job.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload, block};
use carillon_scheduler::Millis;
use serde_json::{Map, Value, json};

use super::error::Error;
use super::jobs::find;
use super::params::Id;
use super::query::Query;
use super::views::PreviewJson;
use super::{body, definition, time};
use crate::store::Job;
use crate::web::State;
use crate::web::around::Around;
use crate::web::preview::{self, Preview, Span};

/// Instants in one answer: of a job by default, of a preview by default, and the most.
const OF_JOB: u32 = 5;
const OF_PREVIEW: usize = 10;
pub const MOST: u32 = 1000;

/// The instants that the schedule has from now on, whether the job is enabled or not.
pub async fn next(state: Data<State>, id: Id, mut query: Query) -> Result<HttpResponse, Error> {
    let count = query.number("count", OF_JOB, MOST)? as usize;
    let from = query.time("from")?;
    query.finish()?;
    let job = find(&state, id.0).await?;
    let now = state.clock.now();
    let looked = block(move || preview::of_job(&job, from.unwrap_or(now), count, now)).await;
    let preview = looked.map_err(|_| Error::internal())?.map_err(crate::store::Error::Invalid)?;
    Ok(HttpResponse::Ok().json(PreviewJson::from(preview)))
}

/// A whole job, or its schedule alone.
pub async fn unsaved(state: Data<State>, query: Query, payload: Payload) -> Result<HttpResponse, Error> {
    query.finish()?;
    let what = "a job, or {\"schedule\":{…}}, with \"count\" and \"from\" if you like";
    let value = body::required(payload, body::OBJECT, what).await?;
    let Value::Object(mut members) = value else {
        return Err(Error::invalid(format!("the body must be {what} as an object")));
    };
    let now = state.clock.now();
    let count = count(members.remove("count"))?;
    let span = Span { from: from(members.remove("from"))?.unwrap_or(now), ..preview::from_now(count, now) };
    let before = match id(members.remove("job_id"))? {
        Some(id) => Some(find(&state, id).await?),
        None => None,
    };
    let preview = looked_at(&state, members, before.as_ref(), span).await?;
    Ok(HttpResponse::Ok().json(PreviewJson::from(preview)))
}

async fn looked_at(
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
        false => preview::nobody(),
    };
    let around = Around::of(state, std::slice::from_ref(&draft), before).await?;
    preview::of_draft(around, &app, &draft, before, span).await.map_err(|error| match error {
        preview::Error::Fields(errors) => definition::all(errors),
        preview::Error::Store(error) => error.into(),
    })
}

fn count(given: Option<Value>) -> Result<usize, Error> {
    let wrong = |given: &Value| Error::field("count", format!("{given:.32} is not allowed; a number from 1 to {MOST}"));
    match given {
        None => Ok(OF_PREVIEW),
        Some(given) => match given.as_u64() {
            Some(count) if (1..=u64::from(MOST)).contains(&count) => Ok(count as usize),
            _ => Err(wrong(&given)),
        },
    }
}

fn from(given: Option<Value>) -> Result<Option<Millis>, Error> {
    let wrong = |given: &Value| {
        Error::field("from", format!("{given:.64} is no time; write RFC 3339, such as 2025-07-04T15:00:00.000Z"))
    };
    match given {
        None => Ok(None),
        Some(given) => given.as_str().and_then(time::read).map(Some).ok_or_else(|| wrong(&given)),
    }
}

fn id(given: Option<Value>) -> Result<Option<i64>, Error> {
    let wrong =
        |given: &Value| Error::field("job_id", format!("{given:.32} is no id; an id is a whole number above 0"));
    match given {
        None => Ok(None),
        Some(given) => given.as_i64().filter(|id| *id > 0).map(Some).ok_or_else(|| wrong(&given)),
    }
}
