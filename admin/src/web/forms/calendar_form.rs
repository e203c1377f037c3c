//! The fields of a calendar: days are written one by one or as ranges.

use std::collections::BTreeSet;

use carillon_scheduler::Calendar;
use chrono::{Days, NaiveDate};

use crate::web::forms::form::Form;
use crate::web::locale::Language;

/// The form's fields and the keys of their labels, in the order of the page.
pub const LABELS: &[(&str, &str)] = &[
    ("version", "version"),
    ("name", "name"),
    ("title", "title"),
    ("weekdays", "calendar-weekdays"),
    ("days", "calendar-days"),
    ("extra", "calendar-extra"),
];

/// Days of one range; a list may have no more.
const MOST_DAYS: i64 = 5_000;
/// Wrong entries that are named.
const MOST_ERRORS: usize = 20;
/// Between two entries, and between the days of a range, as people write them in English and in Chinese.
const SEPARATORS: [char; 6] = ['\n', ',', ';', '，', '；', '、'];
const RANGES: [&str; 9] = ["to", "..", "–", "—", "至", "到", "～", "~", " - "];

/// A calendar as the form shows it.
pub fn filled(language: Language, calendar: &Calendar) -> Form {
    let weekdays: Vec<&str> = calendar.weekdays.iter().map(|day| day.as_str()).collect();
    Form::default()
        .with("name", &calendar.name)
        .with("title", &calendar.title)
        .with("weekdays", weekdays.join("\n"))
        .with("days", written(language, &calendar.days))
        .with("extra", written(language, &calendar.extra))
}

/// The calendar that the fields describe. What cannot be read is an error of its field and is left out.
pub fn calendar_of(form: &mut Form) -> Calendar {
    Calendar {
        name: form.value("name").trim().to_owned(),
        title: form.value("title").trim().to_owned(),
        weekdays: form.words("weekdays").into_iter().collect(),
        days: days(form, "days"),
        extra: days(form, "extra"),
    }
}

/// Each day or range on a line of its own.
fn written(language: Language, days: &BTreeSet<NaiveDate>) -> String {
    let mut ranges: Vec<(NaiveDate, NaiveDate)> = vec![];
    for day in days {
        match ranges.last_mut() {
            Some((_, last)) if last.succ_opt() == Some(*day) => *last = *day,
            _ => ranges.push((*day, *day)),
        }
    }
    let line = |(first, last): &(NaiveDate, NaiveDate)| match first == last {
        true => first.to_string(),
        false => language.text("calendar-range").with("first", first).with("last", last).to_string(),
    };
    ranges.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn days(form: &mut Form, name: &str) -> BTreeSet<NaiveDate> {
    let text = form.value(name).to_owned();
    let mut found = BTreeSet::new();
    for entry in text.split(SEPARATORS).map(str::trim).filter(|entry| !entry.is_empty()) {
        // The check of the calendar refuses a list of this length; expanding further ranges only costs time.
        if found.len() > MOST_DAYS as usize {
            break;
        }
        match range(entry) {
            Ok((first, last)) => {
                let count = (last - first).num_days().unsigned_abs();
                found.extend((0..=count).filter_map(|days| first.checked_add_days(Days::new(days))));
            }
            Err(message) if form.errors_of(name).len() < MOST_ERRORS => form.add_further_error(name, message),
            Err(_) => {}
        }
    }
    found
}

/// `2026-12-24`, or `2026-12-24 to 2026-12-31`, also with `..`, a dash or `至`.
fn range(entry: &str) -> Result<(NaiveDate, NaiveDate), String> {
    let ends = RANGES.iter().find_map(|word| entry.split_once(word)).unwrap_or((entry, entry));
    let day = |text: &str| text.trim().parse::<NaiveDate>().ok();
    let wrong = || format!("`{entry:.64}` is no day; write 2026-12-25, or 2026-12-24 to 2026-12-31");
    let (first, last) = day(ends.0).zip(day(ends.1)).ok_or_else(wrong)?;
    match (last - first).num_days() {
        ..0 => Err(format!("`{entry:.64}` ends before it starts")),
        MOST_DAYS.. => Err(format!("`{entry:.64}` has more than {MOST_DAYS} days")),
        _ => Ok((first, last)),
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::Weekday;

    use super::*;

    #[test]
    fn a_calendar_comes_back_from_its_form_as_it_was() {
        let days = |all: &[&str]| all.iter().map(|day| day.parse().unwrap()).collect::<BTreeSet<NaiveDate>>();
        let calendar = Calendar {
            name: "bank".into(),
            title: "Bank holidays".into(),
            weekdays: [Weekday::Sat, Weekday::Sun].into(),
            days: days(&["2026-12-24", "2026-12-25", "2026-12-26", "2027-01-01"]),
            extra: days(&["2026-12-20"]),
        };
        for (language, text) in [
            (Language::English, "2026-12-24 to 2026-12-26\n2027-01-01"),
            (Language::Chinese, "2026-12-24 至 2026-12-26\n2027-01-01"),
        ] {
            let mut form = filled(language, &calendar);
            assert_eq!(form.value("days"), text);
            assert_eq!(calendar_of(&mut form), calendar);
            assert!(form.is_valid());
        }
    }

    #[test]
    fn days_are_read_one_by_one_and_as_ranges() {
        let read = |text: &str| {
            let mut form = Form::default().with("days", text);
            let found = calendar_of(&mut form).days;
            form.error("days").map_or_else(|| written(Language::English, &found), str::to_owned)
        };
        assert_eq!(read(" 2026-12-25,2026-12-24; 2026-12-26\r\n\r\n"), "2026-12-24 to 2026-12-26");
        assert_eq!(read("2026-12-24，2026-12-26；2026-12-25、"), "2026-12-24 to 2026-12-26");
        for range in RANGES.map(|word| format!("2026-12-24 {word} 2026-12-26")) {
            assert_eq!(read(&range), "2026-12-24 to 2026-12-26", "{range}");
        }
        for range in ["2026-12-24..2026-12-26", "2026-12-24至2026-12-26"] {
            assert_eq!(read(range), "2026-12-24 to 2026-12-26", "{range}");
        }
        assert!(read("24.12.2026").contains("write 2026-12-25"));
        assert!(read("2026-02-30").contains("is no day"));
        let mut form = Form::default().with("days", "2026-13-01\n2026-12-25\ntomorrow").with("extra", "soon");
        calendar_of(&mut form);
        let wrong: Vec<&str> = form.errors().iter().map(|(_, message)| message.split('`').nth(1).unwrap()).collect();
        assert_eq!(wrong, ["2026-13-01", "tomorrow", "soon"]);
        assert!(read("2026-12-26 to 2026-12-24").contains("ends before it starts"));
        assert!(read("1970-01-01 to 9999-12-31").contains("more than 5000 days"));
        let many: String =
            (1000..9900).step_by(13).map(|year| format!("{year}-01-01 to {}-12-31\n", year + 12)).collect();
        let found = calendar_of(&mut Form::default().with("days", many)).days;
        assert!((5_001..=10_000).contains(&found.len()), "{} days: refused, and not all of them counted", found.len());
    }
}
