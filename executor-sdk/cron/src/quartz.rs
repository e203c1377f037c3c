//! The dialect of Quartz and xxl-job: six or seven fields.

use crate::days::{self, DayRule};
use crate::error::Error;
use crate::field_text::{FieldText, split_fields};
use crate::fields::CronFields;
use crate::item::{DAY, Field, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, YEAR};
use crate::years::Years;

const ORDER: &str = "second minute hour day-of-month month day-of-week [year]";

/// Parses an expression. `strict`: exactly one of the two day fields must be `?`.
pub(crate) fn parse(expression: &str, strict: bool) -> Result<CronFields, Error> {
    let fields = split(expression)?;
    let count = fields.len();
    let text_of =
        |field: &'static Field| FieldText { field, text: fields[field.position - 1], position: field.position, count };
    let (second, minute, hour, month) = (text_of(&SECOND), text_of(&MINUTE), text_of(&HOUR), text_of(&MONTH));
    let plain = [second.plain()?, minute.plain()?, hour.plain()?, month.plain()?];
    let days = day_rule(text_of(&DAY), text_of(&WEEKDAY), strict)?;
    let years = match fields.get(YEAR.position - 1) {
        Some(_) => text_of(&YEAR).parse(Years::parse)?,
        None => Years::default(),
    };
    let [second, minute, hour, month] = plain;
    let (day, weekday) = days.plain_fields();
    let plain = format!("{second} {minute} {hour} {day} {month} {weekday}");
    Ok(CronFields { plain, days: days.rule, years })
}

fn split(expression: &str) -> Result<Vec<&str>, Error> {
    let fields = split_fields(expression)?;
    match fields.as_slice() {
        [word] if word.starts_with('@') => Err(Error(format!("`{word}` is not known; {}", replacement_of(word)))),
        [] => Err(Error(format!("must not be empty; its fields are {ORDER}, such as `0 0 12 * * ?`"))),
        fields if !(6..=7).contains(&fields.len()) => {
            let hint = if fields.len() == 5 { "; a Unix cron is kind unix_cron" } else { "" };
            Err(Error(format!("the number of fields is {}; it needs six or seven: {ORDER}{hint}", fields.len())))
        }
        _ => Ok(fields),
    }
}

fn replacement_of(word: &str) -> &'static str {
    match word {
        "@hourly" => "write `0 0 * * * ?`",
        "@daily" | "@midnight" => "write `0 0 0 * * ?`",
        "@weekly" => "write `0 0 0 ? * SUN`",
        "@monthly" => "write `0 0 0 1 * ?`",
        "@yearly" | "@annually" => "write `0 0 0 1 1 ?`",
        _ => "write six or seven fields, such as `0 0 12 * * ?`",
    }
}

/// The day fields as a rule, and as plain fields.
struct Days {
    rule: DayRule,
    /// `*` stands for a rule that a plain field cannot express; the other field is `?`.
    day: String,
    weekday: String,
}

impl Days {
    fn plain_fields(&self) -> (&str, &str) {
        (&self.day, &self.weekday)
    }
}

fn day_rule(day: FieldText<'_>, weekday: FieldText<'_>, strict: bool) -> Result<Days, Error> {
    let both = |problem: &str| Err(Error(format!("day-of-month and day-of-week fields (4 and 6): {problem}")));
    match (day.text, weekday.text) {
        ("?", "?") => both("both are `?`; write `*` in one of them"),
        ("?", _) => days::parse_weekdays(&weekday),
        (_, "?") => days::parse_month_days(&day),
        (_, "*") if !strict => days::parse_month_days(&day),
        ("*", _) if !strict => days::parse_weekdays(&weekday),
        _ => both("exactly one of them must be `?`, such as `0 0 9 ? * MON` or `0 0 9 1 * ?`"),
    }
    .map(|(rule, plain)| match rule {
        DayRule::Weekdays(_) => Days { rule, day: "?".to_owned(), weekday: plain },
        _ => Days { rule, day: plain, weekday: "?".to_owned() },
    })
}
