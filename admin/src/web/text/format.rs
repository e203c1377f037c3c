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
pub fn duration(language: Language, ms: Millis) -> String {
    let ms = ms.max(0);
    let seconds = ms / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let one = |key, name, number: i64| language.text(key).count(name, number);
    let message = match (ms, ms % 1000 / 100) {
        (0..1000, _) => one("time-milliseconds", "milliseconds", ms),
        (1000..60_000, 0) => one("time-seconds", "seconds", seconds),
        (1000..60_000, tenths) => language.text("time-seconds").with("seconds", format!("{seconds}.{tenths}")),
        (60_000..3_600_000, _) => match seconds % 60 {
            0 => one("time-minutes", "minutes", minutes),
            rest => one("time-minutes-seconds", "minutes", minutes).count("seconds", rest),
        },
        (3_600_000..86_400_000, _) => match minutes % 60 {
            0 => one("time-hours", "hours", hours),
            rest => one("time-hours-minutes", "hours", hours).count("minutes", rest),
        },
        _ => match hours % 24 {
            0 => one("time-days", "days", days),
            rest => one("time-days-hours", "days", days).count("hours", rest),
        },
    };
    message.to_string()
}

/// The unit that a period of whole seconds is a multiple of, in full: `5 seconds`, `1 hour`; else as [`duration`].
pub fn period(language: Language, seconds: i64) -> String {
    let whole = [(86_400, "span-days"), (3_600, "span-hours"), (60, "span-minutes")];
    match whole.into_iter().find(|(unit, _)| seconds >= *unit && seconds % unit == 0) {
        Some((unit, key)) => language.text(key).count("count", seconds / unit).to_string(),
        None if seconds > 60 => duration(language, seconds.saturating_mul(1000)),
        None => language.text("span-seconds").count("count", seconds).to_string(),
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
            assert_eq!(duration(Language::English, ms), text);
        }
        assert_eq!([850, 1250, 184_000].map(|ms| duration(Language::Chinese, ms)), ["850 毫秒", "1.2 秒", "3 分 4 秒"]);
    }

    #[test]
    fn periods_have_one_unit_where_they_can() {
        let cases = [(1, "1 second"), (5, "5 seconds"), (90, "1 min 30 s"), (300, "5 minutes"), (3_600, "1 hour")];
        for (seconds, text) in cases.into_iter().chain([(172_800, "2 days"), (0, "0 seconds")]) {
            assert_eq!(period(Language::English, seconds), text);
        }
        assert_eq!([5, 7_200].map(|seconds| period(Language::Chinese, seconds)), ["5 秒", "2 小时"]);
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
