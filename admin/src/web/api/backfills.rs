//! Backfills: runs for instants of the past.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use serde::Deserialize;
use utoipa::ToSchema;

use super::error::Error;
use super::extract::{Caller, Id, OBJECT, Query, object, required};
use super::view::{BackfillInstants, BackfillView, List, Time};
use crate::web::state::State;
use carillon_engine::{MAX_CONCURRENT, Range};

/// A range of the past
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BackfillRequest {
    /// The first moment
    from: Time,
    /// The end, itself excluded; not in the future. At most 100000 instants lie between
    to: Time,
    /// How many backfill runs of the job may be open at the same time
    #[schema(minimum = 1, maximum = 100, default = 1)]
    max_concurrent: Option<i32>,
    /// Only list the instants
    #[schema(default = false)]
    dry_run: Option<bool>,
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
    let request: BackfillRequest = object(&required(payload, OBJECT, what).await?, what)?;
    let range = Range { job_id: id.0, from_at: request.from.0, to_at: request.to.0 };
    let max_concurrent = concurrency(request.max_concurrent.unwrap_or(1))?;
    if request.dry_run == Some(true) {
        let (instants, made) = state.engine.backfill_instants(range).await?;
        return Ok(HttpResponse::Ok().json(BackfillInstants::new(instants, made.len())));
    }
    let made = state.engine.backfill(range, max_concurrent, &caller.0).await?;
    Ok(HttpResponse::Accepted()
        .insert_header(("location", format!("/api/v1/backfills/{}", made.id)))
        .json(BackfillView::from(made)))
}

pub async fn list(state: Data<State>, id: Id, mut query: Query) -> Result<HttpResponse, Error> {
    let (after, limit) = (query.id("after")?, query.limit()?);
    query.finish()?;
    super::jobs::find(&state, id.0).await?;
    let page = state.store.backfills(id.0, after, limit).await?;
    Ok(HttpResponse::Ok().json(List::from_page(page, BackfillView::from, |id| id)))
}

pub async fn get(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let found = state.store.backfill(id.0).await?;
    let missing = || Error::not_found(format!("there is no backfill {}", id.0));
    Ok(HttpResponse::Ok().json(BackfillView::from(found.ok_or_else(missing)?)))
}

pub async fn cancel(state: Data<State>, id: Id, query: Query, caller: Caller) -> Result<HttpResponse, Error> {
    query.finish()?;
    let now = state.clock.now();
    let backfill = state.store.cancel_backfill(id.0, now, &caller.0).await?;
    Ok(HttpResponse::Ok().json(BackfillView::from(backfill)))
}

fn concurrency(given: i32) -> Result<i32, Error> {
    if (1..=MAX_CONCURRENT).contains(&given) {
        return Ok(given);
    }
    Err(Error::field("max_concurrent", format!("{given} is not allowed; 1 to {MAX_CONCURRENT} runs")))
}
