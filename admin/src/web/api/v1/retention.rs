//! `/retention`, `/apps/{id}/retention`, `/jobs/{id}/retention`: how long runs are kept. `/jobs/{id}/days`: what is left of
//! those that are gone.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::Millis;
use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::apps;
use super::body;
use super::caller::Caller;
use super::definition;
use super::error::Error;
use super::jobs::find;
use super::params::Id;
use super::query::Query;
use super::views::List;
use crate::store::prune::DayCounts;
use crate::store::retention::{Keep, Retention, Scope};
use crate::web::State;

const DAY: Millis = 86_400_000;

/// Each member may be left out or null: as the next wider rule says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    #[serde(default)]
    days: Value,
    #[serde(default)]
    failure_days: Value,
    #[serde(default)]
    failures: Value,
    #[serde(default)]
    runs: Value,
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

/// Counts of runs that are gone, for the days of their instants.
pub async fn days(state: Data<State>, id: Id, mut query: Query) -> Result<HttpResponse, Error> {
    let (from, to) = (query.time("from")?, query.time("to")?);
    query.finish()?;
    let now = state.clock.now();
    let day = |at: Millis| i32::try_from(at.div_euclid(DAY)).unwrap_or(i32::MAX);
    let (from, to) = (from.unwrap_or(now - 365 * DAY), to.unwrap_or(now));
    let counts = state.store.day_counts(id.0, day(from), day(to)).await?;
    Ok(HttpResponse::Ok().json(List::<_, i64>::whole(counts.into_iter().map(DayJson::from))))
}

async fn put(
    state: &State,
    scope: Scope,
    of: (i64, i64),
    caller: &Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    let what = "how long runs are kept, such as {\"days\":30,\"failure_days\":90}";
    let update: Update = body::object(body::required(payload, body::OBJECT, what).await?, what)?;
    let rule = Retention {
        days: number("days", &update.days)?,
        failure_days: number("failure_days", &update.failure_days)?,
        failures: number("failures", &update.failures)?,
        runs: number("runs", &update.runs)?,
    };
    rule.validate().map_err(definition::all)?;
    state.store.set_retention(scope, rule, state.clock.now(), &caller.0).await?;
    shown(state, scope, of).await
}

/// Null or left out: None.
fn number(name: &'static str, value: &Value) -> Result<Option<i32>, Error> {
    if value.is_null() {
        return Ok(None);
    }
    let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
    let wrong = || Error::field(name, format!("{value} is no whole number in its range, and not null"));
    number.map(Some).ok_or_else(wrong)
}

async fn shown(state: &State, scope: Scope, (app_id, job_id): (i64, i64)) -> Result<HttpResponse, Error> {
    let Retention { days, failure_days, failures, runs } = state.store.retention(scope).await?;
    let Keep { days: d, failure_days: fd, failures: f, runs: r } = state.store.retentions().await?.keep(app_id, job_id);
    Ok(HttpResponse::Ok().json(json!({
        "days": days, "failure_days": failure_days, "failures": failures, "runs": runs,
        "in_force": {"days": d, "failure_days": fd, "failures": f, "runs": r},
    })))
}

#[derive(Serialize)]
struct DayJson {
    day: NaiveDate,
    succeeded: i64,
    failed: i64,
    killed: i64,
    cancelled: i64,
}

impl From<DayCounts> for DayJson {
    fn from(counts: DayCounts) -> Self {
        let days = Days::new(u64::from(counts.day.unsigned_abs()));
        Self {
            day: NaiveDate::default().checked_add_days(days).unwrap_or_default(),
            succeeded: counts.succeeded,
            failed: counts.failed,
            killed: counts.killed,
            cancelled: counts.cancelled,
        }
    }
}
