//! Calendars and their versions.

use std::collections::HashSet;

use carillon_scheduler::Calendar;
use carillon_store::{CalendarVersion, NamedCalendar};
use chrono::NaiveDate;
use utoipa::ToSchema;

use super::time::Time;
use super::view_macro::view;
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
