//! `/calendars`: named lists of days on which jobs do not run.

use std::collections::HashSet;

use actix_web::web::Json;
use carillon_scheduler::Calendar;
use carillon_store::{CalendarVersion, NamedCalendar};
use chrono::NaiveDate;
use serde_json::Value;
use utoipa::ToSchema;

use super::answer::{Answer, Created, Error, NoContent};
use super::extract::{Body, Caller, Name, Parsed, Query, ReadOnly, RequestBody, edited, parse};
use super::view::{List, Time, view, words};
use crate::web::state::Shared;

/// The members of [`Calendar`], which is read and written as it is.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct CalendarMembers {
    /// Jobs name the calendar by this; it does not change
    #[schema(min_length = 1, max_length = 64, required = false)]
    name: String,
    /// For people
    #[schema(max_length = 255, min_length = 0, default = "", required = false)]
    title: String,
    /// Excluded days of the week
    #[schema(value_type = HashSet<words::Weekday>, default = json!([]), required = false)]
    weekdays: (),
    /// Excluded days
    #[schema(max_items = 5_000, default = json!([]), examples("2026-12-25"), required = false)]
    days: HashSet<NaiveDate>,
    /// Working days, although they or their weekdays are excluded
    #[schema(max_items = 5_000, default = json!([]), examples("2026-12-25"), required = false)]
    extra: HashSet<NaiveDate>,
}

view! {
    /// A calendar. A day is one of the schedule's time zone; of UTC for kinds of schedules that have none
    pub struct CalendarView as Calendar from row: NamedCalendar {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        #[serde(flatten)]
        #[schema(value_type = CalendarMembers)]
        calendar: Calendar = Calendar::clone(&row.calendar),
        /// Grows with each change
        #[schema(minimum = 1)]
        version: i64,
        /// How many jobs use it
        #[schema(minimum = 0)]
        jobs: i64,
        /// When it was created
        created_at: Time,
        /// When it was changed last
        updated_at: Time,
    }
}

view! {
    /// A version of a calendar
    pub struct CalendarVersionView as CalendarVersion from row: CalendarVersion {
        #[serde(flatten)]
        #[schema(value_type = CalendarMembers)]
        calendar: Calendar = Calendar::clone(&row.calendar),
        /// Grows with each change
        #[schema(minimum = 1)]
        version: i64,
        /// Who wrote it
        actor: String,
        /// When it was written
        created_at: Time,
    }
}

/// The members of an answer that a request may send back unchanged.
const READ_ONLY: ReadOnly = ReadOnly { revision: "version", ignored: &["id", "jobs", "created_at", "updated_at"] };

/// A new calendar
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct CalendarRequest {
    #[serde(flatten)]
    members: CalendarMembers,
    /// Jobs name the calendar by this; it does not change
    #[schema(min_length = 1, max_length = 64)]
    name: String,
}

edited!(CalendarUpdate: "calendar" of CalendarMembers, READ_ONLY, "the whole calendar",
    "The whole calendar; an answer may be changed and sent back");

pub async fn list(state: Shared, query: Query) -> Answer<List<CalendarView, String>> {
    let (after, limit) = (query.text("after")?, query.limit()?);
    let page = state.store.calendars().list(after.as_deref(), limit).await?;
    Ok(Json(List::from_page(page, CalendarView::from, |name| name)))
}

pub async fn get(state: Shared, name: Name) -> Answer<CalendarView> {
    Ok(Json(state.engine.calendars().get(&name.0).await?.into()))
}

pub async fn versions(state: Shared, name: Name, query: Query) -> Answer<List<CalendarVersionView, i64>> {
    let (after, limit) = (query.id("after")?, query.limit()?);
    let calendar = state.engine.calendars().get(&name.0).await?;
    let page = state.store.calendars().versions(calendar.id, after, limit).await?;
    Ok(Json(List::from_page(page, CalendarVersionView::from, |version| version)))
}

/// A new calendar.
pub struct NewCalendar(Calendar);

impl RequestBody for NewCalendar {
    type Schema = CalendarRequest;
    const WHAT: &'static str =
        "a calendar, such as {\"name\":\"bank\",\"weekdays\":[\"SAT\",\"SUN\"],\"days\":[\"2026-12-25\"]}";

    fn read(value: Value) -> Result<Self, Error> {
        calendar(&value).map(Self)
    }
}

pub async fn create(state: Shared, caller: Caller, body: Body<NewCalendar>) -> Result<Created<CalendarView>, Error> {
    let made = state.engine.calendars().create(body.0.0, &caller.0).await?;
    Ok(Created::new(made))
}

/// Every job that uses it is planned again before this is answered.
pub async fn update(state: Shared, name: Name, caller: Caller, body: Body<CalendarUpdate>) -> Answer<CalendarView> {
    let CalendarUpdate { mut value, revision } = body.0;
    if let Some(members) = value.as_object_mut() {
        let given = members.entry("name").or_insert_with(|| Value::from(name.0.as_str()));
        if given.as_str().is_some_and(|given| given.trim() != name.0) {
            let message = format!("differs from the {:?} of the path; a calendar keeps its name", name.0);
            return Err(Error::field("name", message));
        }
    }
    // A calendar that does not exist is reported before anything else.
    state.engine.calendars().get(&name.0).await?;
    let changed = state.engine.calendars().update(calendar(&value)?, revision, &caller.0).await?;
    Ok(Json(changed.into()))
}

pub async fn delete(state: Shared, name: Name, caller: Caller) -> Result<NoContent, Error> {
    state.engine.calendars().delete(&name.0, &caller.0).await?;
    Ok(NoContent)
}

fn calendar(value: &Value) -> Result<Calendar, Error> {
    match value {
        Value::Object(_) => {
            let read: Parsed<Calendar> = parse(value.clone());
            let faults: Vec<Error> = read.faults.into_iter().map(|error| with_example(error, value)).collect();
            read.value.filter(|_| faults.is_empty()).ok_or_else(|| Error::all(faults))
        }
        _ => Err(Error::invalid("must be a calendar as an object")),
    }
}

/// Adds to the error of a list element what was given and how to write it.
fn with_example(error: Error, value: &Value) -> Error {
    let element = error.of_field().and_then(|field| field.strip_suffix(']')?.split_once('['));
    let Some((list, index)) = element else {
        return error;
    };
    let wanted = match list {
        "weekdays" => "a weekday; write MON, TUE, WED, THU, FRI, SAT or SUN",
        _ => "a day; write YEAR-MONTH-DAY, such as 2026-12-25",
    };
    let given = index.parse().ok().and_then(|index: usize| value[list].get(index));
    let shown: String = given.map(Value::to_string).unwrap_or_default().chars().take(64).collect();
    Error::field(format!("{list}[{index}]"), format!("{shown} is not {wanted}"))
}
