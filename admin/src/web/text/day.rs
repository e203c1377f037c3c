//! Days as people write them.

use carillon_scheduler::Weekday;
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
