//! Named lists of days on which jobs do not run.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use super::Weekday;
use crate::words::{first_is_default, words};

words! {
    /// What becomes of an instant on an excluded day.
    pub enum Excluded: "rule for excluded days" {
        /// There is no such instant, and no misfire.
        Skip = 0 "skip",
        /// It moves to the next day that is not excluded, at the same time, once.
        NextWorkingDay = 1 "next_working_day",
    }
}

first_is_default!(Excluded);

/// A version of a calendar. A day is excluded if its weekday or its date is, unless it is an extra day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calendar {
    /// 1 to 64 characters; jobs name it by this.
    pub name: String,
    /// What people call it.
    #[serde(default)]
    pub title: String,
    /// Excluded days of the week.
    #[serde(default)]
    pub weekdays: BTreeSet<Weekday>,
    /// Excluded days.
    #[serde(default)]
    pub days: BTreeSet<NaiveDate>,
    /// Working days although they, or their weekdays, are excluded.
    #[serde(default)]
    pub extra: BTreeSet<NaiveDate>,
}

impl Calendar {
    /// Whether this calendar excludes a day.
    pub fn excludes(&self, day: NaiveDate) -> bool {
        self.weekdays.contains(&Weekday::from(day.weekday())) || self.days.contains(&day)
    }
}

/// Whether several calendars together exclude a day: any of them does, and none makes it extra.
pub fn is_excluded(calendars: &[std::sync::Arc<Calendar>], day: NaiveDate) -> bool {
    calendars.iter().any(|calendar| calendar.excludes(day))
        && !calendars
            .iter()
            .any(|calendar| calendar.extra.contains(&day))
}
