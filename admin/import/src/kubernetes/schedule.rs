//! The schedule of a CronJob, as the library that Kubernetes uses reads it.

use carillon_scheduler::cron::Dialect;
use carillon_scheduler::{ClockChanges, CronDraft, CronSchedule, KindDraft, Millis, ScheduleDraft};

use crate::duration;

/// # Errors
/// Says why the schedule cannot be taken over.
pub fn schedule(text: &str, zone: Option<&str>, default_zone: &str, now: Millis) -> Result<ScheduleDraft, String> {
    let (prefix, expression) = with_zone(text.trim())?;
    if let Some(duration) = expression.strip_prefix("@every ") {
        return duration::seconds(duration.trim()).map(ScheduleDraft::fixed_rate);
    }
    let zone = zone.or(prefix).unwrap_or(default_zone);
    // Where the clocks go forward, Kubernetes leaves out what the gap swallows, as xxl-job does.
    let clock_changes = if is_without_changes(zone) { ClockChanges::Carillon } else { ClockChanges::Xxl };
    let expression = unix(expression)?;
    let parsed = CronSchedule::parse_dialect(Dialect::Unix, &expression, zone, clock_changes);
    let parsed = parsed.map_err(|error| error.to_string())?;
    if parsed.next_after(now).is_none() {
        return Err(format!("`{text}` never fires again"));
    }
    let draft = CronDraft { expression, timezone: zone.to_owned(), clock_changes };
    Ok(KindDraft::UnixCron(draft).into())
}

pub fn is_without_changes(zone: &str) -> bool {
    matches!(zone, "UTC" | "Etc/UTC" | "GMT" | "Etc/GMT")
}

/// `TZ=Europe/Berlin 0 3 * * *`: the zone and the rest.
fn with_zone(text: &str) -> Result<(Option<&str>, &str), String> {
    match text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ=")) {
        None => Ok((None, text)),
        Some(rest) => match rest.split_once(' ') {
            Some((zone, expression)) => Ok((Some(zone), expression.trim())),
            None => Err(format!("`{text}` has a time zone and no fields")),
        },
    }
}

/// Five fields as Vixie's cron reads them, or a word.
fn unix(expression: &str) -> Result<String, String> {
    if expression.starts_with('@') {
        return Ok(expression.to_owned());
    }
    let fields: Vec<&str> = expression.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields[..] else {
        return Err(format!("`{expression}` has {} fields, and not 5", fields.len()));
    };
    if weekday.contains('7') {
        return Err(format!("weekday `{weekday}`: Kubernetes knows 0 to 6; write 0 for Sunday"));
    }
    let weekday = field(weekday, 6);
    let day = field(day, 31);
    let has_star = |field: &str| field != "*" && field.starts_with('*');
    if day != "*" && weekday != "*" && (has_star(&day) || has_star(&weekday)) {
        return Err(format!(
            "`{expression}`: Kubernetes fires on days that fit `{day}` or `{weekday}`, a crontab on days that fit both; write two jobs, or one \
             day field"
        ));
    }
    Ok(format!("{} {} {day} {} {weekday}", field(minute, 59), field(hour, 23), field(month, 12)))
}

/// `?` is `*`, and `5/15` is `5-59/15`.
fn field(text: &str, last: u32) -> String {
    let item = |item: &str| match item.split_once('/') {
        Some(("?", step)) => format!("*/{step}"),
        Some((first, step)) if first.bytes().all(|byte| byte.is_ascii_digit()) => format!("{first}-{last}/{step}"),
        _ if item == "?" => "*".to_owned(),
        _ => item.to_owned(),
    };
    text.split(',').map(item).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<ScheduleDraft, String> {
        schedule(text, None, "UTC", 0)
    }

    #[test]
    fn fields_are_written_as_a_crontab_has_them() {
        assert_eq!(of("5/15 ? * * ?"), Ok(ScheduleDraft::unix_cron("5-59/15 * * * *", "UTC")));
        assert_eq!(of("0 3 1,15 * 1-5"), Ok(ScheduleDraft::unix_cron("0 3 1,15 * 1-5", "UTC")));
        assert_eq!(of("@daily"), Ok(ScheduleDraft::unix_cron("@daily", "UTC")));
        assert_eq!(of("@every 90m"), Ok(ScheduleDraft::fixed_rate(5_400)));
    }

    #[test]
    fn the_zone_of_the_member_counts_before_that_of_the_text() {
        let zone = |draft: ScheduleDraft| match draft.kind {
            KindDraft::UnixCron(cron) => (cron.timezone, cron.clock_changes),
            other => panic!("{other:?}"),
        };
        let berlin = ("Europe/Berlin".to_owned(), ClockChanges::Xxl);
        assert_eq!(zone(of("TZ=Europe/Berlin 0 3 * * *").unwrap()), berlin);
        assert_eq!(zone(schedule("CRON_TZ=UTC 0 3 * * *", Some("Europe/Berlin"), "UTC", 0).unwrap()), berlin);
        assert_eq!(zone(of("0 3 * * *").unwrap()), ("UTC".to_owned(), ClockChanges::Carillon));
    }

    #[test]
    fn what_would_fire_on_other_days_is_refused() {
        assert!(of("0 3 */2 * 1").unwrap_err().contains("fit `*/2` or `1`"));
        assert!(of("0 3 1 * */2").unwrap_err().contains("fit `1` or `*/2`"));
        assert!(of("0 3 * * 7").unwrap_err().contains("write 0 for Sunday"));
        assert!(of("0 3 30 2 *").unwrap_err().contains("never fires"));
        assert!(of("0 3 * *").unwrap_err().contains("4 fields"));
        assert!(of("TZ=Mars/Base 0 3 * * *").is_err());
    }
}
