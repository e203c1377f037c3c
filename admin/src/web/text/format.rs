//! Times and durations in words.

use carillon_scheduler::Millis;
use chrono::DateTime;

use crate::web::locale::{Language, Message};

pub fn utc(at: Millis) -> DateTime<chrono::Utc> {
    DateTime::from_timestamp_millis(at).unwrap_or_default()
}

/// `in 3 min`, `2 h ago`. None: more than a day away. The console's script does the same.
pub fn relative(language: Language, at: Millis, now: Millis) -> Option<String> {
    let seconds = (at - now).unsigned_abs() / 1000;
    let amount = match seconds {
        0 => return Some(language.text("time-now").to_string()),
        1..60 => language.text("time-seconds").count("seconds", seconds),
        // What comes soon is shown to the second: five fires a minute apart must not all read "in 1 min".
        60..600 if at > now && !seconds.is_multiple_of(60) => {
            language.text("time-minutes-seconds").count("minutes", seconds / 60).count("seconds", seconds % 60)
        }
        60..3600 => language.text("time-minutes").count("minutes", seconds / 60),
        3600..86_400 => language.text("time-hours").count("hours", seconds / 3600),
        _ => return None,
    };
    Some(distance(language, at > now, amount))
}

/// The same for any time: `in 3 d`.
pub fn from_now(language: Language, at: Millis, now: Millis) -> String {
    let days = (at - now).unsigned_abs() / 86_400_000;
    let far = || distance(language, at > now, language.text("time-days").count("days", days));
    relative(language, at, now).unwrap_or_else(far)
}

fn distance(language: Language, is_ahead: bool, amount: Message) -> String {
    language.text(if is_ahead { "time-in" } else { "time-ago" }).with("amount", amount).to_string()
}

/// `850 ms`, `1.2 s`, `3 min 4 s`, `2 h 5 min`, `3 d 4 h`.
pub fn duration(ms: Millis) -> String {
    let ms = ms.max(0);
    let two = |large: i64, large_name: &str, small: i64, small_name: &str| match small {
        0 => format!("{large} {large_name}"),
        _ => format!("{large} {large_name} {small} {small_name}"),
    };
    let seconds = ms / 1000;
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 if ms % 1000 / 100 == 0 => format!("{seconds} s"),
        1000..60_000 => format!("{seconds}.{} s", ms % 1000 / 100),
        60_000..3_600_000 => two(seconds / 60, "min", seconds % 60, "s"),
        3_600_000..86_400_000 => two(seconds / 3600, "h", seconds / 60 % 60, "min"),
        _ => two(seconds / 86_400, "d", seconds / 3600 % 24, "h"),
    }
}

/// The unit that a period of whole seconds is a multiple of, in full: `5 seconds`, `1 hour`; else as [`duration`].
pub fn period(seconds: i64) -> String {
    let whole = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let fits = whole.iter().find(|(unit, _)| seconds >= *unit && seconds % unit == 0);
    match fits {
        Some((1, _)) if seconds > 60 => duration(seconds.saturating_mul(1000)),
        Some((unit, name)) if seconds == *unit => format!("1 {name}"),
        Some((unit, name)) => format!("{} {name}s", seconds / unit),
        None => format!("{seconds} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        let cases = [
            (0, "0 ms"),
            (850, "850 ms"),
            (1000, "1 s"),
            (1250, "1.2 s"),
            (59_999, "59.9 s"),
            (60_000, "1 min"),
            (184_000, "3 min 4 s"),
            (7_500_000, "2 h 5 min"),
            (273_600_000, "3 d 4 h"),
            (-5, "0 ms"),
        ];
        for (ms, text) in cases {
            assert_eq!(duration(ms), text);
        }
    }

    #[test]
    fn periods_have_one_unit_where_they_can() {
        let cases = [(1, "1 second"), (5, "5 seconds"), (90, "1 min 30 s"), (300, "5 minutes"), (3_600, "1 hour")];
        for (seconds, text) in cases.into_iter().chain([(172_800, "2 days"), (0, "0 seconds")]) {
            assert_eq!(period(seconds), text);
        }
    }

    #[test]
    fn moments_are_relative_within_a_day() {
        let now = 1_800_000_000_000;
        let cases = [
            (999, Some("now")),
            (1000, Some("in 1 s")),
            (-59_000, Some("59 s ago")),
            (180_000, Some("in 3 min")),
            (185_000, Some("in 3 min 5 s")),
            (-185_000, Some("3 min ago")),
            (605_000, Some("in 10 min")),
            (-7_200_000, Some("2 h ago")),
            (86_400_000, None),
        ];
        for (distance, text) in cases {
            assert_eq!(relative(Language::English, now + distance, now).as_deref(), text);
        }
    }
}
