//! Named lists of days on which jobs do not run.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use super::Weekday;
use crate::job::FieldError;
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

/// The most days, and the most extra days.
const MOST_DAYS: usize = 5_000;
const YEARS: std::ops::RangeInclusive<i32> = 1970..=9999;

impl Calendar {
    /// Checks every member and takes the blanks from around name and title.
    ///
    /// # Errors
    /// One for each member that is wrong: the name has 1 to 64 characters, the title at most 255; `days` and `extra` have
    /// at most 5,000 days each, of the years 1970 to 9999.
    pub fn validate(mut self) -> Result<Self, Vec<FieldError>> {
        let checks = [
            ("name", line(&self.name, 1, 64)),
            ("title", line(&self.title, 0, 255)),
            ("days", in_calendar(&self.days)),
            ("extra", in_calendar(&self.extra)),
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

    /// Whether this calendar excludes a day, if no other one makes it extra.
    pub fn excludes(&self, day: NaiveDate) -> bool {
        self.weekdays.contains(&Weekday::from(day.weekday())) || self.days.contains(&day)
    }
}

/// Whether several calendars together exclude a day: any of them does, and none makes it extra.
pub fn is_excluded(calendars: &[std::sync::Arc<Calendar>], day: NaiveDate) -> bool {
    calendars.iter().any(|calendar| calendar.excludes(day))
        && !calendars.iter().any(|calendar| calendar.extra.contains(&day))
}

fn line(text: &str, min: usize, max: usize) -> Result<(), String> {
    let text = text.trim();
    let count = text.chars().count();
    if count < min {
        return Err(format!("must not be empty; {min} to {max} characters"));
    }
    if count > max {
        return Err(format!("has {count} characters; at most {max} are allowed"));
    }
    if text.chars().any(char::is_control) {
        return Err("must be one line without control characters".to_owned());
    }
    Ok(())
}

fn in_calendar(days: &BTreeSet<NaiveDate>) -> Result<(), String> {
    if days.len() > MOST_DAYS {
        return Err(format!("has {} days; at most {MOST_DAYS} are allowed", days.len()));
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
    fn a_calendar_is_read_and_tidied_up() {
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
