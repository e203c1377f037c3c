//! Backfills: runs for instants of the past.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::Millis;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::body;
use super::caller::Caller;
use super::error::Error;
use super::params::Id;
use super::query::Query;
use super::time;
use super::views::List;
use crate::pipeline::{MAX_CONCURRENT, Range};
use crate::store::backfill::Backfill;
use crate::web::State;

/// `from` and `to` are needed.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wish {
    from: Value,
    to: Value,
    max_concurrent: Value,
    dry_run: Value,
}

#[derive(Serialize)]
struct BackfillJson {
    id: i64,
    job_id: i64,
    #[serde(serialize_with = "time::required")]
    from: Millis,
    #[serde(serialize_with = "time::required")]
    to: Millis,
    max_concurrent: i32,
    instants: i32,
    released: i32,
    skipped: i32,
    state: &'static str,
    #[serde(serialize_with = "time::required")]
    created_at: Millis,
    #[serde(serialize_with = "time::optional")]
    finished_at: Option<Millis>,
}

impl From<Backfill> for BackfillJson {
    fn from(backfill: Backfill) -> Self {
        Self {
            id: backfill.id,
            job_id: backfill.job_id,
            from: backfill.from_at,
            to: backfill.to_at,
            max_concurrent: backfill.max_concurrent,
            instants: backfill.instants,
            released: backfill.released,
            skipped: backfill.skipped,
            state: match (backfill.finished_at, backfill.cancelled) {
                (None, _) => "running",
                (Some(_), false) => "released",
                (Some(_), true) => "cancelled",
            },
            created_at: backfill.created_at,
            finished_at: backfill.finished_at,
        }
    }
}

pub async fn create(
    state: Data<State>,
    id: Id,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let what = "{\"from\",\"to\",\"max_concurrent\"?,\"dry_run\"?}";
    let value = body::required(payload, body::OBJECT, what).await?;
    let wish: Wish = body::object(value, what)?;
    let range = Range { job_id: id.0, from_at: moment("from", &wish.from)?, to_at: moment("to", &wish.to)? };
    let max_concurrent = concurrency(&wish.max_concurrent)?;
    if dry_run(&wish.dry_run)? {
        let (instants, made) = state.pipeline.backfill_instants(range).await?;
        let text: Vec<String> = instants.iter().map(|at| time::write(*at)).collect();
        return Ok(HttpResponse::Ok().json(json!({
            "instants": text.len(), "skipped": made.len(), "items": text
        })));
    }
    let made = state.pipeline.backfill(range, max_concurrent, &caller.0).await?;
    Ok(HttpResponse::Accepted()
        .insert_header(("location", format!("/api/v1/backfills/{}", made.id)))
        .json(BackfillJson::from(made)))
}

pub async fn list(state: Data<State>, id: Id, mut query: Query) -> Result<HttpResponse, Error> {
    let (after, limit) = (query.id("after")?, query.limit()?);
    query.finish()?;
    super::jobs::find(&state, id.0).await?;
    let page = state.store.backfills(id.0, after, limit).await?;
    Ok(HttpResponse::Ok().json(List::of(page, BackfillJson::from, |id| id)))
}

pub async fn get(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let found = state.store.backfill(id.0).await?;
    let missing = || Error::not_found(format!("there is no backfill {}", id.0));
    Ok(HttpResponse::Ok().json(BackfillJson::from(found.ok_or_else(missing)?)))
}

pub async fn cancel(state: Data<State>, id: Id, query: Query, caller: Caller) -> Result<HttpResponse, Error> {
    query.finish()?;
    let now = state.clock.now();
    let backfill = state.store.cancel_backfill(id.0, now, &caller.0).await?;
    Ok(HttpResponse::Ok().json(BackfillJson::from(backfill)))
}

fn moment(field: &str, value: &Value) -> Result<Millis, Error> {
    let example = "RFC 3339 such as 2026-01-31T18:30:00Z";
    match value {
        Value::Null => Err(Error::field(field, format!("is missing; write {example}"))),
        Value::String(text) => {
            time::read(text).ok_or_else(|| Error::field(field, format!("`{text}` is not a time; write {example}")))
        }
        other => Err(Error::field(field, format!("{other} is not a time; write {example}"))),
    }
}

fn concurrency(value: &Value) -> Result<i32, Error> {
    let given = match value {
        Value::Null => Some(1),
        value => value.as_i64(),
    };
    given.and_then(|given| i32::try_from(given).ok()).filter(|given| (1..=MAX_CONCURRENT).contains(given)).ok_or_else(
        || {
            let text = format!("{value} is not allowed; 1 to {MAX_CONCURRENT} runs");
            Error::field("max_concurrent", text)
        },
    )
}

fn dry_run(value: &Value) -> Result<bool, Error> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(given) => Ok(*given),
        other => Err(Error::field("dry_run", format!("{other} is not allowed; true or false"))),
    }
}
