//! A Quartz expression as its six or seven fields.

use super::days::DayRule;
use super::item::{DAY, Field, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, YEAR};
use super::wall::{Times, Wall};
use super::years::Years;
use super::{Error, days};

const ORDER: &str = "second minute hour day-of-month month day-of-week [year]";
/// The longest expression, in bytes: enough for every minute by hand, and a bound on the work.
const MAX_BYTES: usize = 500;

/// Reads an expression. `strict`: exactly one of the two day fields has to be `?`.
pub(super) fn parse(expression: &str, strict: bool) -> Result<Wall, Error> {
    let fields = split(expression)?;
    let count = fields.len();
    let of =
        |field: &'static Field| FieldText { field, text: fields[field.position - 1], position: field.position, count };
    let (second, minute, hour, month) = (of(&SECOND), of(&MINUTE), of(&HOUR), of(&MONTH));
    let plain = [second.plain()?, minute.plain()?, hour.plain()?, month.plain()?];
    let days = day_rule(of(&DAY), of(&WEEKDAY), strict)?;
    let years = match fields.get(YEAR.position - 1) {
        Some(_) => of(&YEAR).read(Years::parse)?,
        None => Years::default(),
    };
    let [second, minute, hour, month] = plain;
    let (day, weekday) = days.for_crate();
    let times = Times::read(&format!("{second} {minute} {hour} {day} {month} {weekday}"))?;
    Ok(Wall { times, days: days.rule, years })
}

/// The words of an expression that is not too long.
pub(super) fn words(expression: &str) -> Result<Vec<&str>, Error> {
    if expression.len() > MAX_BYTES {
        return Err(Error(format!("has {} bytes; at most {MAX_BYTES} are allowed", expression.len())));
    }
    Ok(expression.split_ascii_whitespace().collect())
}

fn split(expression: &str) -> Result<Vec<&str>, Error> {
    let fields = words(expression)?;
    match fields.as_slice() {
        [word] if word.starts_with('@') => Err(Error(format!("`{word}` is not known; {}", in_place_of(word)))),
        [] => Err(Error(format!("must not be empty; its fields are {ORDER}, such as `0 0 12 * * ?`"))),
        fields if !(6..=7).contains(&fields.len()) => {
            let hint = if fields.len() == 5 { "; a Unix cron is kind unix_cron" } else { "" };
            Err(Error(format!("has {} fields; it needs six or seven: {ORDER}{hint}", fields.len())))
        }
        _ => Ok(fields),
    }
}

fn in_place_of(word: &str) -> &'static str {
    match word {
        "@hourly" => "write `0 0 * * * ?`",
        "@daily" | "@midnight" => "write `0 0 0 * * ?`",
        "@weekly" => "write `0 0 0 ? * SUN`",
        "@monthly" => "write `0 0 0 1 * ?`",
        "@yearly" | "@annually" => "write `0 0 0 1 1 ?`",
        _ => "write six or seven fields, such as `0 0 12 * * ?`",
    }
}

/// The day fields as our rule, and as the crate may see them.
struct Days {
    rule: DayRule,
    /// The plain one of the two, written for the crate; `*` stands in for what it does not know.
    day: String,
    weekday: String,
}

impl Days {
    fn for_crate(&self) -> (&str, &str) {
        (&self.day, &self.weekday)
    }
}

fn day_rule(day: FieldText<'_>, weekday: FieldText<'_>, strict: bool) -> Result<Days, Error> {
    let both = |problem: &str| Err(Error(format!("day-of-month and day-of-week fields (4 and 6): {problem}")));
    match (day.text, weekday.text) {
        ("?", "?") => both("both are `?`; write `*` in one of them"),
        ("?", _) => days::of_week(&weekday),
        (_, "?") => days::of_month(&day),
        (_, "*") if !strict => days::of_month(&day),
        ("*", _) if !strict => days::of_week(&weekday),
        _ => both("exactly one of them must be `?`, such as `0 0 9 ? * MON` or `0 0 9 1 * ?`"),
    }
    .map(|(rule, plain)| match rule {
        DayRule::Weekdays(_) => Days { rule, day: "?".to_owned(), weekday: plain },
        _ => Days { rule, day: plain, weekday: "?".to_owned() },
    })
}

/// The text of one field.
#[derive(Clone, Copy)]
pub(super) struct FieldText<'a> {
    pub field: &'static Field,
    pub text: &'a str,
    /// Its place, counted from 1, and among how many.
    pub position: usize,
    pub count: usize,
}

impl FieldText<'_> {
    /// Reads it and says, if that fails, where.
    pub fn read<T>(&self, read: impl FnOnce(&str) -> Result<T, String>) -> Result<T, Error> {
        read(self.text).map_err(|problem| {
            Error(format!(
                "{} field: {problem} (field {} of {}: `{}`)",
                self.field.name, self.position, self.count, self.text
            ))
        })
    }

    /// Writes a field without day rules as `*` or a plain list, which the crate `cron` surely takes.
    pub fn plain(&self) -> Result<String, Error> {
        self.read(|text| {
            if text == "*" {
                return Ok("*".to_owned());
            }
            let mut values = Vec::new();
            for item in text.split(',') {
                values.extend(self.field.values(self.field.item(item)?));
            }
            values.sort_unstable();
            values.dedup();
            Ok(values.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
        })
    }
}
