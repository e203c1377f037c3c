//! Named lists of days on which jobs do not run.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use super::weekday::Weekday;
use crate::checks::check_line;
use crate::field_error::FieldError;
use crate::words::{first_is_default, words};

words! {
    /// The rule for instants on excluded days.
    pub enum Excluded: "rule for excluded days" {
        /// The instant does not exist, so it is no misfire either.
        Skip = 0 "skip",
        /// The instant moves to the same time of the next day that is not excluded, where it fires once.
        NextWorkingDay = 1 "next_working_day",
    }
}

first_is_default!(Excluded);

/// A version of a calendar. A day is excluded if its weekday or its date is, unless it is an extra day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calendar {
    /// 1 to 64 characters; jobs refer to the calendar by it.
    pub name: String,
    /// A description for users.
    #[serde(default)]
    pub title: String,
    /// Excluded days of the week.
    #[serde(default)]
    pub weekdays: BTreeSet<Weekday>,
    /// Excluded days.
    #[serde(default)]
    pub days: BTreeSet<NaiveDate>,
    /// Working days even if they, or their weekdays, are excluded.
    #[serde(default)]
    pub extra: BTreeSet<NaiveDate>,
}

/// Maximum number of days, and of extra days.
const MAX_DAYS: usize = 5_000;
const YEARS: std::ops::RangeInclusive<i32> = 1970..=9999;

impl Calendar {
    /// Checks every member and trims name and title.
    ///
    /// # Errors
    /// One for each member that is wrong: the name has 1 to 64 characters, the title at most 255; `days` and `extra` have
    /// at most 5,000 days each, of the years 1970 to 9999.
    pub fn validate(mut self) -> Result<Self, Vec<FieldError>> {
        let checks = [
            ("name", check_line(&self.name, 1..=64)),
            ("title", check_line(&self.title, 0..=255)),
            ("days", day_set(&self.days)),
            ("extra", day_set(&self.extra)),
        ];
        let wrong =
            |(field, result): (&str, Result<(), String>)| result.err().map(|message| FieldError::new(field, message));
        let errors: Vec<FieldError> = checks.into_iter().filter_map(wrong).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        self.name = self.name.trim().to_owned();
        self.title = self.title.trim().to_owned();
        Ok(self)
    }

    /// Whether this calendar excludes a day; an extra day of another calendar overrides it.
    pub fn excludes(&self, day: NaiveDate) -> bool {
        self.weekdays.contains(&Weekday::from(day.weekday())) || self.days.contains(&day)
    }
}

/// Whether calendars together exclude a day: at least one excludes it, and none lists it as an extra day.
pub fn is_excluded(calendars: &[std::sync::Arc<Calendar>], day: NaiveDate) -> bool {
    calendars.iter().any(|calendar| calendar.excludes(day))
        && !calendars.iter().any(|calendar| calendar.extra.contains(&day))
}

fn day_set(days: &BTreeSet<NaiveDate>) -> Result<(), String> {
    if days.len() > MAX_DAYS {
        return Err(format!("has {} days; at most {MAX_DAYS} are allowed", days.len()));
    }
    match days.iter().find(|day| !YEARS.contains(&day.year())) {
        Some(day) => Err(format!("{day} is not allowed; years are {} to {}", YEARS.start(), YEARS.end())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn calendar(json: serde_json::Value) -> Calendar {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_calendar_is_parsed_and_normalised() {
        let calendar = calendar(json!({
            "name": " Germany ", "weekdays": ["SAT", "SUN"], "days": ["2025-12-25"], "extra": ["2025-12-27"],
        }));
        let calendar = calendar.validate().unwrap();
        assert_eq!((calendar.name.as_str(), calendar.title.as_str()), ("Germany", ""));
        let excludes = |day: &str| calendar.excludes(day.parse().unwrap());
        assert!(excludes("2025-12-25") && excludes("2025-12-28") && !excludes("2025-12-26"));
        let both = [std::sync::Arc::new(calendar.clone())];
        assert!(!is_excluded(&both, "2025-12-27".parse().unwrap()), "a Saturday, but extra");
    }

    #[test]
    fn every_wrong_member_has_its_message() {
        let many: Vec<_> = "2025-01-01".parse::<NaiveDate>().unwrap().iter_days().take(5_001).collect();
        let wrong = calendar(json!({
            "name": " ", "title": "a\nb", "days": many, "extra": ["1969-12-31"],
        }));
        let errors = wrong.validate().unwrap_err();
        assert_eq!(
            errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "name: must not be empty; 1 to 64 characters",
                "title: must be one line without control characters",
                "days: has 5001 days; at most 5000 are allowed",
                "extra: 1969-12-31 is not allowed; years are 1970 to 9999",
            ]
        );
    }
}
