//! The dialect of a Unix crontab: five fields, or a word such as `@daily`.
//!
//! The day rule is that of Vixie cron and its descendants: if both day fields are restricted, a day matches if either
//! matches. A day field that begins with `*` counts as unrestricted; the rest of it (`*/2`) must then match as well.

use crate::days::DayRule;
use crate::error::Error;
use crate::field_text::{FieldText, split_fields};
use crate::fields::CronFields;
use crate::item::{DAY, Field, HOUR, MINUTE, MONTH, UNIX_WEEKDAY};
use crate::years::Years;

const ORDER: &str = "minute hour day-of-month month day-of-week";

/// Parses an expression of five fields, or a word.
pub(crate) fn parse(expression: &str) -> Result<CronFields, Error> {
    let mut fields = split_fields(expression)?;
    if let [word] = fields.as_slice()
        && word.starts_with('@')
    {
        fields = fields_of_word(word)?.split(' ').collect();
    }
    let [minute, hour, day, month, weekday] = fields[..] else {
        return Err(Error(wrong_count(fields.len())));
    };
    // Quartz counts the seconds as field 1.
    let text_of = |field: &'static Field, text| FieldText { field, text, position: field.position - 1, count: 5 };
    let minutes = text_of(&MINUTE, minute).plain()?;
    let hours = text_of(&HOUR, hour).plain()?;
    let days = day_rule(text_of(&DAY, day), text_of(&UNIX_WEEKDAY, weekday))?;
    let months = text_of(&MONTH, month).plain()?;
    let plain = format!("0 {minutes} {hours} * {months} ?");
    Ok(CronFields { plain, days, years: Years::default() })
}

fn day_rule(day: FieldText<'_>, weekday: FieldText<'_>) -> Result<DayRule, Error> {
    let days = day.parse(|text| DAY.bits(text))?;
    let weekdays = weekday.parse(|text| UNIX_WEEKDAY.bits(text))?;
    // Unix: bits 0 to 7, where 0 and 7 are Sunday. Ours: bit 1 = Sunday to bit 7 = Saturday.
    let weekdays = (weekdays << 1 | (weekdays >> 7 & 1) << 1) as u8;
    Ok(if day.text.starts_with('*') || weekday.text.starts_with('*') {
        DayRule::Both(days, weekdays)
    } else {
        DayRule::Either(days, weekdays)
    })
}

/// The five fields that a word stands for.
fn fields_of_word(word: &str) -> Result<&'static str, Error> {
    match word.to_ascii_lowercase().as_str() {
        "@hourly" => Ok("0 * * * *"),
        "@daily" | "@midnight" => Ok("0 0 * * *"),
        "@weekly" => Ok("0 0 * * 0"),
        "@monthly" => Ok("0 0 1 * *"),
        "@yearly" | "@annually" => Ok("0 0 1 1 *"),
        "@reboot" => Err(Error(
            "`@reboot` names the start of a machine, which is no time; run the job through the API when that is done"
                .to_owned(),
        )),
        _ => Err(Error(format!(
            "`{word}` is not known; @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually are"
        ))),
    }
}

fn wrong_count(count: usize) -> String {
    match count {
        0 => format!("must not be empty; its fields are {ORDER}, such as `30 9 * * MON-FRI`"),
        6 | 7 => {
            format!("the number of fields is {count}; a Unix cron has five: {ORDER}; one with seconds is kind cron")
        }
        _ => format!("the number of fields is {count}; a Unix cron has five: {ORDER}"),
    }
}
