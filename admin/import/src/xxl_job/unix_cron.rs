//! A Unix cron expression becomes one of xxl-job.

use carillon_scheduler::cron::Dialect;
use carillon_scheduler::{ClockChanges, CronDraft, CronSchedule, Millis};

/// The expression with a second in front, and `?` in one of the day fields.
///
/// # Errors
/// Names the expression that xxl-job cannot hold.
pub fn quartz(cron: &CronDraft) -> Result<String, String> {
    let refused = || format!("unix_cron {}", cron.expression);
    let [minute, hour, day, month, weekday] = cron.expression.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(refused());
    };
    let weekday = match (day, weekday) {
        (_, "*") => None,
        ("*", weekday) if !weekday.starts_with('*') => weekdays(weekday).ok_or_else(refused)?,
        _ => return Err(refused()),
    };
    Ok(match weekday {
        None => format!("0 {minute} {hour} {day} {month} ?"),
        Some(weekday) => format!("0 {minute} {hour} ? {month} {weekday}"),
    })
}

const DAY: Millis = 86_400_000;
/// 1970-01-04.
const A_SUNDAY: Millis = 3 * DAY;

/// The weekdays of the field as xxl-job counts them: Sunday is 1. None: the field is wrong; the inner None: every day.
fn weekdays(field: &str) -> Option<Option<String>> {
    let expression = format!("0 0 * * {field}");
    let schedule = CronSchedule::parse_dialect(Dialect::Unix, &expression, "UTC", ClockChanges::Carillon).ok()?;
    let fires = |day: &i64| {
        let midnight = A_SUNDAY + (day - 1) * DAY;
        schedule.next_after(midnight - 1) == Some(midnight)
    };
    let days: Vec<i64> = (1..=7).filter(fires).collect();
    if days.len() == 7 {
        return Some(None);
    }
    if field.bytes().all(|byte| byte.is_ascii_alphabetic() || b",-".contains(&byte)) {
        return Some(Some(field.to_owned()));
    }
    let ranges: Vec<String> = days
        .chunk_by(|day, next| next - day == 1)
        .map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            range => range.iter().map(i64::to_string).collect(),
        })
        .collect();
    Some(Some(ranges.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unix_expression_with_one_day_field_becomes_one_of_quartz() {
        let of = |expression: &str| quartz(&CronDraft::new(expression, "UTC"));
        assert_eq!(of("30 4 * * 1-5").as_deref(), Ok("0 30 4 ? * 2-6"));
        assert_eq!(of("30 4 * * 0,6").as_deref(), Ok("0 30 4 ? * 1,7"));
        assert_eq!(of("30 4 * * MON-FRI").as_deref(), Ok("0 30 4 ? * MON-FRI"));
        assert_eq!(of("*/5 * 1 * *").as_deref(), Ok("0 */5 * 1 * ?"));
        assert!(of("0 0 1 * 1").is_err());
        assert!(of("0 0 * * */2").is_err());
    }

    #[test]
    fn the_days_of_a_field_keep_their_meaning() {
        let of = |expression: &str| quartz(&CronDraft::new(expression, "UTC"));
        for every_day in ["0-7", "1-7", "0-6", "SUN-SAT"] {
            assert_eq!(of(&format!("30 4 * * {every_day}")).as_deref(), Ok("0 30 4 * * ?"), "{every_day}");
        }
        assert_eq!(of("30 4 * * 5-7").as_deref(), Ok("0 30 4 ? * 1,6-7"));
        assert_eq!(of("30 4 * * 7").as_deref(), Ok("0 30 4 ? * 1"));
        assert_eq!(of("30 4 * * 1-5/2").as_deref(), Ok("0 30 4 ? * 2,4,6"));
        assert!(of("0 0 * * 9").is_err());
    }
}
