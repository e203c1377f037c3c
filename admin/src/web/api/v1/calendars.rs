//! `/calendars`: named lists of days on which jobs do not run.

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use carillon_scheduler::Calendar;
use serde_json::Value;

use super::body::{self, member_error};
use super::caller::Caller;
use super::error::Error;
use super::params::Name;
use super::query::Query;
use super::views::{CalendarJson, CalendarVersionJson, List};
use crate::store::NamedCalendar;
use crate::web::State;

/// The members of an answer that a request may send back unchanged.
const READ_ONLY: [&str; 5] = ["id", "version", "jobs", "created_at", "updated_at"];

pub async fn list(state: Data<State>, mut query: Query) -> Result<HttpResponse, Error> {
    let (after, limit) = (query.text("after")?, query.limit()?);
    query.finish()?;
    let page = state.store.calendars(after.as_deref(), limit).await?;
    Ok(HttpResponse::Ok().json(List::of(page, CalendarJson::from, |name| name)))
}

pub async fn get(state: Data<State>, name: Name, query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    let calendar = find(&state, &name.0).await?;
    Ok(HttpResponse::Ok().json(CalendarJson::from(calendar)))
}

pub async fn versions(state: Data<State>, name: Name, mut query: Query) -> Result<HttpResponse, Error> {
    let (after, limit) = (query.id("after")?, query.limit()?);
    query.finish()?;
    let calendar = find(&state, &name.0).await?;
    let page = state.store.calendar_versions(calendar.id, after, limit).await?;
    Ok(HttpResponse::Ok().json(List::of(page, CalendarVersionJson::from, |version| version)))
}

pub async fn create(state: Data<State>, query: Query, caller: Caller, payload: Payload) -> Result<HttpResponse, Error> {
    query.finish()?;
    let what = "a calendar, such as {\"name\":\"bank\",\"weekdays\":[\"SAT\",\"SUN\"],\"days\":[\"2026-12-25\"]}";
    let value = body::required(payload, body::OBJECT, what).await?;
    let calendar = checked(value)?;
    let made = state.store.create_calendar(&calendar, state.clock.now(), &caller.0).await?;
    Ok(HttpResponse::Created().json(CalendarJson::from(made)))
}

/// Every job that uses it is planned anew before this is answered.
pub async fn update(
    state: Data<State>,
    name: Name,
    query: Query,
    caller: Caller,
    payload: Payload,
) -> Result<HttpResponse, Error> {
    query.finish()?;
    let mut value = body::required(payload, body::OBJECT, "the whole calendar").await?;
    let version = seen_version(&value)?;
    if let Some(members) = value.as_object_mut() {
        let given = members.entry("name").or_insert_with(|| Value::from(name.0.as_str()));
        if given.as_str().is_some_and(|given| given.trim() != name.0) {
            let message = format!("differs from the {:?} of the path; a calendar keeps its name", name.0);
            return Err(Error::field("name", message));
        }
        members.retain(|member, _| !READ_ONLY.contains(&member.as_str()));
    }
    // One that does not exist is the first thing to say.
    find(&state, &name.0).await?;
    let calendar = checked(value)?;
    let now = state.clock.now();
    state.store.update_calendar(&calendar, version, now, &caller.0).await?;
    // The calendar is changed already: what cannot be done now is done by the next round of the service.
    if let Err(error) = state.pipeline.follow_calendars(&caller.0).await {
        tracing::warn!(%error, calendar = name.0, "the jobs of a changed calendar could not be looked for");
    }
    let calendar = find(&state, &name.0).await?;
    Ok(HttpResponse::Ok().json(CalendarJson::from(calendar)))
}

pub async fn delete(state: Data<State>, name: Name, query: Query, caller: Caller) -> Result<HttpResponse, Error> {
    query.finish()?;
    state.store.delete_calendar(&name.0, state.clock.now(), &caller.0).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// The version that the client has seen.
fn seen_version(value: &Value) -> Result<Option<i64>, Error> {
    let wrong = || Error::field("version", "must be a whole number");
    match value.get("version") {
        None => Ok(None),
        Some(given) => given.as_i64().map(Some).ok_or_else(wrong),
    }
}

fn checked(value: Value) -> Result<Calendar, Error> {
    let Value::Object(members) = &value else {
        return Err(Error::invalid("must be a calendar as an object"));
    };
    read_lists(members)?;
    let calendar: Calendar = serde_json::from_value(value).map_err(|error| member_error(&error.to_string()))?;
    if calendar.name.contains('/') {
        return Err(Error::field("name", "must not contain a `/`: it stands in addresses"));
    }
    let first = |errors: Vec<carillon_scheduler::FieldError>| {
        let first = errors.into_iter().next();
        first.map_or_else(Error::internal, Error::from)
    };
    calendar.validate().map_err(first)
}

/// Reads each member by itself, so that an error says which element is wrong.
fn read_lists(members: &serde_json::Map<String, Value>) -> Result<(), Error> {
    for (name, what) in [("name", "a text"), ("title", "a text")] {
        if let Some(other) = members.get(name).filter(|value| !value.is_string()) {
            return Err(Error::field(name, format!("{other:.64} is not {what}")));
        }
    }
    for name in ["weekdays", "days", "extra"] {
        let Some(list) = members.get(name) else {
            continue;
        };
        let Some(items) = list.as_array() else {
            return Err(Error::field(name, "must be a list"));
        };
        for (index, item) in items.iter().enumerate() {
            let (fits, wanted) = match name {
                "weekdays" => (
                    serde_json::from_value::<carillon_scheduler::Weekday>(item.clone()).is_ok(),
                    "a weekday; write MON, TUE, WED, THU, FRI, SAT or SUN",
                ),
                _ => (
                    serde_json::from_value::<chrono::NaiveDate>(item.clone()).is_ok(),
                    "a day; write YEAR-MONTH-DAY, such as 2026-12-25",
                ),
            };
            if !fits {
                let shown: String = item.to_string().chars().take(64).collect();
                return Err(Error::field(format!("{name}[{index}]"), format!("{shown} is not {wanted}")));
            }
        }
    }
    Ok(())
}

async fn find(state: &State, name: &str) -> Result<NamedCalendar, Error> {
    let missing = || Error::not_found(format!("there is no calendar {name:?}"));
    state.store.calendar(name).await?.ok_or_else(missing)
}
