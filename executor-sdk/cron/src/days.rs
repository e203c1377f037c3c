//! The rules for the days of a month, and their grammar. No crate supports this part of the dialect.

use crate::error::Error;
use crate::field_text::FieldText;
use crate::item::{DAY, WEEKDAY};

/// The rule of the day field that is not `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DayRule {
    /// Days of the month.
    Month(Vec<MonthTerm>),
    /// Days of the week, bit 1 = Sunday to bit 7 = Saturday.
    Weekdays(u8),
    /// The last such weekday of the month (`6L`).
    LastWeekday(u32),
    /// The k-th such weekday of the month (`6#3`); months that do not have it are left out.
    NthWeekday(u32, u32),
    /// Days of the month or days of the week, as [`MonthTerm::Days`] and [`Self::Weekdays`] (Unix).
    Either(u32, u8),
    /// Only the days that match both (Unix, if one of the fields begins with `*`).
    Both(u32, u8),
}

/// One item of the day-of-month field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonthTerm {
    /// Plain days, bit 1 to bit 31.
    Days(u32),
    /// `L`, `L-n`: n days before the last.
    BeforeLast(u32),
    /// `nW`: the weekday nearest to the day, inside the month.
    NearestWeekday(u32),
    /// `LW`, `L-nW`.
    NearestWeekdayBeforeLast(u32),
}

/// Parses the day-of-month field: the rule, and the plain field.
pub(crate) fn parse_month_days(field: &FieldText<'_>) -> Result<(DayRule, String), Error> {
    let special = |text: &str| text.contains(['L', 'l', 'W', 'w']);
    if !special(field.text) {
        let plain = field.plain()?;
        let days = field.parse(|text| DAY.bits(text))?;
        return Ok((DayRule::Month(vec![MonthTerm::Days(days)]), plain));
    }
    let terms = field.parse(|text| text.split(',').map(month_term).collect())?;
    Ok((DayRule::Month(terms), "*".to_owned()))
}

fn month_term(text: &str) -> Result<MonthTerm, String> {
    let upper = text.to_ascii_uppercase();
    let (body, weekday) = match upper.strip_suffix('W') {
        Some(body) => (body, true),
        None => (upper.as_str(), false),
    };
    let Some(rest) = body.strip_prefix('L') else {
        if !weekday {
            return DAY.bits(text).map(MonthTerm::Days);
        }
        let day = DAY.value(body).map_err(|_| format!("`{text}` is not allowed; write 1W to 31W, LW or L-3W"))?;
        return Ok(MonthTerm::NearestWeekday(day));
    };
    let before =
        days_before_last(rest).ok_or_else(|| format!("`{text}` is not allowed; write L, L-1 to L-30 or LW"))?;
    Ok(if weekday { MonthTerm::NearestWeekdayBeforeLast(before) } else { MonthTerm::BeforeLast(before) })
}

/// The text after the `L`: empty, or `-n` with n up to 30.
fn days_before_last(text: &str) -> Option<u32> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix('-').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().filter(|&days| days <= 30)
}

/// Parses the day-of-week field: the rule, and the plain field.
pub(crate) fn parse_weekdays(field: &FieldText<'_>) -> Result<(DayRule, String), Error> {
    let text = field.text.to_ascii_uppercase();
    let rule = if text == "L" {
        // Saturday, every week: the last day of the week.
        DayRule::Weekdays(1 << 7)
    } else if let Some((weekday, nth)) = text.split_once('#') {
        field.parse(|text| nth_weekday(text, weekday, nth))?
    } else if let Some(weekday) = text.strip_suffix('L') {
        field.parse(|text| last_weekday(text, weekday))?
    } else {
        let plain = field.plain()?;
        let weekdays = field.parse(|text| WEEKDAY.bits(text))?;
        return Ok((DayRule::Weekdays(weekdays as u8), plain));
    };
    let plain = if text == "L" { "7" } else { "*" };
    Ok((rule, plain.to_owned()))
}

fn nth_weekday(text: &str, weekday: &str, nth: &str) -> Result<DayRule, String> {
    let wrong = || format!("`{text}` is not allowed; write 6#3 or FRI#3 alone, for the third Friday (1 to 5)");
    let nth = nth.parse().ok().filter(|nth| (1..=5).contains(nth)).ok_or_else(wrong)?;
    Ok(DayRule::NthWeekday(WEEKDAY.value(weekday).map_err(|_| wrong())?, nth))
}

fn last_weekday(text: &str, weekday: &str) -> Result<DayRule, String> {
    let wrong = |_| format!("`{text}` is not allowed; write 6L or FRIL alone, for the last Friday of the month");
    WEEKDAY.value(weekday).map(DayRule::LastWeekday).map_err(wrong)
}
