//! Checks of values that several kinds of drafts share.

use std::ops::RangeInclusive;

/// Checks a line of text; blanks around it do not count.
///
/// # Errors
/// Says which limit is exceeded.
pub(crate) fn check_line(text: &str, chars: RangeInclusive<usize>) -> Result<(), String> {
    let (text, max) = (text.trim(), chars.end());
    match text.chars().count() {
        count if count < *chars.start() => Err(format!("must not be empty; {} to {max} characters", chars.start())),
        count if count > *max => Err(format!("has {count} characters; at most {max} are allowed")),
        _ if text.chars().any(char::is_control) => Err("must be one line without control characters".to_owned()),
        _ => Ok(()),
    }
}

/// Checks a number; `unit` follows the range in the message.
///
/// # Errors
/// Names the allowed range.
pub(crate) fn check_number(value: i64, range: &RangeInclusive<i64>, unit: &str) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("{value} is not allowed; {} to {}{unit}", range.start(), range.end()))
}
