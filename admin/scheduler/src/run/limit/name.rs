//! The names of limits.

use crate::checks::check_line;

/// Maximum number of characters of a limit's name.
pub const NAME_CHARS: usize = 64;

/// Checks the name of a limit: 1 to 64 letters, digits, `-`, `_` and `.`, the first a letter or a digit.
///
/// # Errors
/// Says which rule is broken.
pub fn validate_limit_name(name: &str) -> Result<(), String> {
    check_line(name, 1..=NAME_CHARS)?;
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some(wrong) = name.chars().find(|&c| !allowed(c)) {
        return Err(format!("{wrong:?} is not allowed; the name of a limit has letters, digits, `-`, `_` and `.`"));
    }
    match name.starts_with(char::is_alphanumeric) {
        true => Ok(()),
        false => Err("the name of a limit begins with a letter or a digit".to_owned()),
    }
}
