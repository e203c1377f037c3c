//! Calendars and their versions.

use std::collections::HashSet;

use carillon_scheduler::Calendar;
use carillon_store::{CalendarVersion, NamedCalendar};
use chrono::NaiveDate;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;
use super::words;

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

/// A calendar. A day is one of the schedule's time zone; of UTC for kinds of schedules that have none
#[derive(Serialize, ToSchema)]
#[schema(as = Calendar)]
pub struct CalendarView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    #[serde(flatten)]
    #[schema(value_type = CalendarMembers)]
    calendar: Calendar,
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

impl From<NamedCalendar> for CalendarView {
    fn from(calendar: NamedCalendar) -> Self {
        Self {
            id: calendar.id,
            calendar: Calendar::clone(&calendar.calendar),
            version: calendar.version,
            jobs: calendar.jobs,
            created_at: Time(calendar.created_at),
            updated_at: Time(calendar.updated_at),
        }
    }
}

/// A version of a calendar
#[derive(Serialize, ToSchema)]
#[schema(as = CalendarVersion)]
pub struct CalendarVersionView {
    #[serde(flatten)]
    #[schema(value_type = CalendarMembers)]
    calendar: Calendar,
    /// Grows with each change
    #[schema(minimum = 1)]
    version: i64,
    /// Who wrote it
    actor: String,
    /// When it was written
    created_at: Time,
}

impl From<CalendarVersion> for CalendarVersionView {
    fn from(version: CalendarVersion) -> Self {
        Self {
            calendar: Calendar::clone(&version.calendar),
            version: version.version,
            actor: version.actor,
            created_at: Time(version.created_at),
        }
    }
}
