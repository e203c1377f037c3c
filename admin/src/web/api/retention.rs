//! `/retention`, `/apps/{id}/retention`, `/jobs/{id}/retention`: how long runs are kept. `/jobs/{id}/days`: counts of deleted
//! runs.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::Millis;
use serde::Deserialize;
use utoipa::ToSchema;

use super::apps;
use super::error::Error;
use super::extract::{Caller, Id, OBJECT, Query, object, required};
use super::jobs::find;
use super::view::{DayCounts, RetentionView};
use crate::store::retention::rules::{Retention, Scope};
use crate::web::state::State;

const DAY: Millis = 86_400_000;

/// How long runs are kept. A member that is null or left out leaves it to the next wider rule
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetentionUpdate {
    /// Days for which a run that did not fail is kept; 0: for ever
    #[schema(minimum = 0, maximum = 3_650)]
    days: Option<i32>,
    /// Days for which a failed run and a skipped range are kept; 0: for ever
    #[schema(minimum = 0, maximum = 3_650)]
    failure_days: Option<i32>,
    /// How many of a job's last failures stay, at any age
    #[schema(minimum = 0, maximum = 1_000)]
    failures: Option<i32>,
    /// How many of a job's latest runs that did not fail are kept; 0: without limit
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    runs: Option<i32>,
}

pub async fn get_all(state: Data<State>, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    shown(&state, Scope::All, (0, 0)).await
}

pub async fn put_all(
    state: Data<State>,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    put(&state, Scope::All, (0, 0), &caller, payload).await
}

pub async fn get_app(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let app = apps::find(&state, id.0).await?.id;
    shown(&state, Scope::App(app), (app, 0)).await
}

pub async fn put_app(
    state: Data<State>,
    id: Id,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let app = apps::find(&state, id.0).await?.id;
    put(&state, Scope::App(app), (app, 0), &caller, payload).await
}

pub async fn get_job(state: Data<State>, id: Id, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let job = find(&state, id.0).await?;
    shown(&state, Scope::Job(job.id), (job.app_id, job.id)).await
}

pub async fn put_job(
    state: Data<State>,
    id: Id,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let job = find(&state, id.0).await?;
    put(&state, Scope::Job(job.id), (job.app_id, job.id), &caller, payload).await
}

/// Counts of deleted runs, for the days of their instants.
pub async fn days(state: Data<State>, id: Id, mut query: Query) -> Result<HttpResponse, Error> {
    let (from, to) = (query.time("from")?, query.time("to")?);
    query.finish()?;
    let now = state.clock.now();
    let day = |at: Millis| i32::try_from(at.div_euclid(DAY)).unwrap_or(i32::MAX);
    let (from, to) = (from.unwrap_or(now - 365 * DAY), to.unwrap_or(now));
    let counts = state.store.day_counts(id.0, day(from), day(to)).await?;
    Ok(HttpResponse::Ok().json(DayCounts::new(counts)))
}

async fn put(
    state: &State,
    scope: Scope,
    of: (i64, i64),
    caller: &Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    let what = "how long runs are kept, such as {\"days\":30,\"failure_days\":90}";
    let RetentionUpdate { days, failure_days, failures, runs } = object(&required(payload, OBJECT, what).await?, what)?;
    let rule = Retention { days, failure_days, failures, runs };
    rule.validate().map_err(Error::from_fields)?;
    state.store.set_retention(scope, rule, state.clock.now(), &caller.0).await?;
    shown(state, scope, of).await
}

async fn shown(state: &State, scope: Scope, (app_id, job_id): (i64, i64)) -> Result<HttpResponse, Error> {
    let rule = state.store.retention(scope).await?;
    let in_force = state.store.retentions().await?.keep(app_id, job_id);
    Ok(HttpResponse::Ok().json(RetentionView::new(rule, in_force)))
}
