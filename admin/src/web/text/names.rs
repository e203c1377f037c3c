//! Names of days, roles and reasons.

use carillon_scheduler::{Cause, Weekday};
use carillon_store::{Misfire, Role};
use chrono::{Datelike as _, NaiveDate};

use crate::web::locale::{Language, Message};

/// `Mon`
pub fn weekday_name(language: Language, day: Weekday) -> Message {
    language.text(match day {
        Weekday::Mon => "day-mon",
        Weekday::Tue => "day-tue",
        Weekday::Wed => "day-wed",
        Weekday::Thu => "day-thu",
        Weekday::Fri => "day-fri",
        Weekday::Sat => "day-sat",
        Weekday::Sun => "day-sun",
    })
}

/// `Sat 2026-11-21`
pub fn day_text(language: Language, day: NaiveDate) -> String {
    format!("{} {day}", weekday_name(language, day.weekday().into()))
}

/// What people call the role.
pub fn role_name(language: Language, role: Role) -> Message {
    language.text(match role {
        Role::Viewer => "role-viewer",
        Role::Operator => "role-operator",
        Role::Editor => "role-editor",
        Role::Admin => "role-admin",
    })
}

/// Why a run exists.
pub fn cause_text(language: Language, cause: Cause) -> Message {
    language.text(match cause {
        Cause::Schedule => "cause-schedule",
        Cause::Manual => "by-hand",
        Cause::Api => "cause-api",
        Cause::Child => "cause-child",
        Cause::Backfill => "cause-backfill",
        Cause::Node => "cause-node",
        Cause::Item => "cause-item",
        Cause::Delayed => "cause-delayed",
    })
}

/// Why fires were skipped.
pub fn skip_text(language: Language, misfire: &Misfire) -> Message {
    match misfire.reason.as_str() {
        "coalesced" => language.text("misfire-coalesced"),
        _ => language.text("misfire-policy").with("policy", misfire.policy.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_the_name_of_its_weekday() {
        let day = "2026-11-21".parse().unwrap();
        assert_eq!(day_text(Language::English, day), "Sat 2026-11-21");
        assert_eq!(day_text(Language::Chinese, day), "周六 2026-11-21");
        assert_eq!(weekday_name(Language::English, Weekday::Sun).to_string(), "Sun");
    }
}
