//! The members of a job that a declaration in code may name: the words and the ranges of the server, for checks before it is asked.

use std::ops::RangeInclusive;

/// The words of each member that has a closed set of them.
pub const WORDS: &[(&str, &[&str])] = &[
    ("block", &["serial", "discard_later", "cover_early"]),
    ("catch_up", &["all", "latest"]),
    ("clock_changes", &["carillon", "xxl"]),
    ("durability", &["durable", "best_effort"]),
    ("misfire", &["fire_once", "skip", "fire_all", "fire_within"]),
    ("on_excluded", &["skip", "next_working_day"]),
    ("overlap", &["allow", "skip", "wait", "cancel"]),
    (
        "route",
        &[
            "round_robin",
            "first",
            "random",
            "broadcast",
            "last",
            "consistent_hash",
            "least_frequently_used",
            "least_recently_used",
            "failover",
            "busy_over",
            "weighted",
            "least_active",
            "sticky",
            "label",
        ],
    ),
];

/// The range of each member that is a number. Members whose name ends with `_seconds`, and `seconds`, are times.
pub const NUMBERS: &[(&str, RangeInclusive<i64>)] = &[
    ("flag_after_seconds", 0..=86_400),
    ("max_concurrent", 1..=1_000),
    // The period of a fixed rate of a best-effort job, in place of `seconds`.
    ("milliseconds", 50..=3_600_000),
    ("misfire_limit", 1..=1_000),
    ("misfire_threshold_seconds", 1..=86_400),
    ("misfire_window_seconds", 1..=86_400),
    ("overlap_queue", 1..=1_000),
    ("parts", 1..=1_000),
    ("pause_after_failures", 0..=1_000),
    ("priority", -3_600..=3_600),
    ("retries", 0..=100),
    // The period of a fixed rate, and a fixed delay.
    ("seconds", 1..=31_536_000),
    ("spread_seconds", 2..=86_400),
    ("start_within_seconds", 0..=86_400),
    ("timeout_seconds", 0..=604_800),
];

/// The maximum number of characters of each member that is a text.
pub const TEXTS: &[(&str, usize)] =
    &[("description", 1_000), ("handler", 255), ("key", 64), ("name", 255), ("owner", 100)];

/// Checks a word of a member with a closed set of them.
///
/// # Errors
/// Names the words that are allowed.
pub fn check_word(member: &str, word: &str) -> Result<(), String> {
    let words = WORDS.iter().find(|(name, _)| *name == member).map_or(&[][..], |(_, words)| words);
    match words.contains(&word) {
        true => Ok(()),
        false => Err(format!("`{word:.64}` is not allowed; allowed: {}", words.join(", "))),
    }
}

/// Checks a number by the range of a member.
///
/// # Errors
/// Names the range.
pub fn check_number(member: &str, number: i64) -> Result<(), String> {
    let range = NUMBERS.iter().find(|(name, _)| *name == member).map(|(_, range)| range);
    match range {
        Some(range) if !range.contains(&number) => {
            let unit = match member {
                "milliseconds" => " milliseconds",
                member if member.ends_with("seconds") => " seconds",
                _ => "",
            };
            Err(format!("{number} is not allowed; {} to {}{unit}", range.start(), range.end()))
        }
        _ => Ok(()),
    }
}

/// Checks a text by the length of a member.
///
/// # Errors
/// Names the greatest length.
pub fn check_text(member: &str, text: &str) -> Result<(), String> {
    let most = TEXTS.iter().find(|(name, _)| *name == member).map_or(usize::MAX, |(_, most)| *most);
    match text.trim().chars().count() {
        count if count > most => Err(format!("has {count} characters; at most {most} are allowed")),
        _ => Ok(()),
    }
}

/// Checks a key of a job: 1 to 64 lower case letters, digits, `-`, `_` and `.`.
///
/// # Errors
/// Says which rule is broken.
pub fn check_key(key: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if key.is_empty() {
        return Err("must not be empty; 1 to 64 lower case letters, digits, `-`, `_` and `.`".to_owned());
    }
    check_text("key", key)?;
    match key.chars().find(|&c| !is_allowed(c)) {
        Some(wrong) => Err(format!("{wrong:?} is not allowed; it has lower case letters, digits, `-`, `_` and `.`")),
        None => Ok(()),
    }
}

/// The seconds of a duration such as `90s`, `5m`, `2h` or `1d`.
///
/// # Errors
/// Shows the form.
pub fn seconds(text: &str) -> Result<i64, String> {
    let wrong =
        || format!("`{text:.64}` is not a duration; write a number and s, m, h or d, such as \"90s\" or \"5m\"");
    let text = text.trim();
    let unit = match text.chars().next_back() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3_600,
        Some('d') => 86_400,
        _ => return Err(wrong()),
    };
    let digits = text[..text.len() - 1].trim_end();
    let number: i64 = digits.parse().ok().filter(|number| *number >= 0).ok_or_else(wrong)?;
    number.checked_mul(unit).ok_or_else(wrong)
}

/// The milliseconds of a duration such as `50ms`; `None`: it has another unit.
///
/// # Errors
/// There is no number before the unit.
pub fn milliseconds(text: &str) -> Option<Result<i64, String>> {
    let digits = text.trim().strip_suffix("ms")?.trim_end();
    let number = digits.parse().ok().filter(|number: &i64| *number >= 0);
    Some(number.ok_or_else(|| format!("`{text:.64}` is not a duration; write a number and ms, such as \"50ms\"")))
}

#[cfg(test)]
mod tests {
    use super::{check_key, check_number, check_word, milliseconds, seconds};

    #[test]
    fn short_periods_are_in_milliseconds() {
        assert_eq!((milliseconds(" 50 ms"), milliseconds("50s")), (Some(Ok(50)), None));
        assert!(milliseconds("-1ms").is_some_and(|number| number.is_err()));
        assert_eq!(check_number("milliseconds", 49), Err("49 is not allowed; 50 to 3600000 milliseconds".to_owned()));
    }

    #[test]
    fn durations_have_one_unit() {
        for (text, meant) in [("90s", 90), ("5m", 300), (" 2 h ", 7_200), ("1d", 86_400), ("0s", 0)] {
            assert_eq!(seconds(text), Ok(meant), "{text}");
        }
        for text in ["", "s", "90", "1h30m", "-5s", "5 ms", "99999999999999999999s", "9223372036854775807d", "é"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn messages_say_what_is_allowed() {
        assert_eq!(
            check_word("misfire", "run"),
            Err("`run` is not allowed; allowed: fire_once, skip, fire_all, fire_within".to_owned())
        );
        assert_eq!(check_number("retries", 101), Err("101 is not allowed; 0 to 100".to_owned()));
        assert_eq!(check_number("timeout_seconds", -1), Err("-1 is not allowed; 0 to 604800 seconds".to_owned()));
        assert_eq!(check_number("priority", -3_601), Err("-3601 is not allowed; -3600 to 3600".to_owned()));
        assert_eq!(check_number("max_concurrent", 0), Err("0 is not allowed; 1 to 1000".to_owned()));
        assert!(check_key("Close").unwrap_err().starts_with("'C' is not allowed"));
        assert_eq!((check_key("close_day-2.b"), check_key("").is_err()), (Ok(()), true));
    }
}
