//! Paths into a JSON text (RFC 6901). The value keeps its spelling: a number of twenty digits is not rounded, members keep their order.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::limits::PATH_BYTES;

/// Checks a path: empty, or `/` and a member or an index, again and again.
///
/// # Errors
/// Says which rule is broken.
pub(crate) fn check_path(path: &str) -> Result<(), String> {
    if path.len() > PATH_BYTES {
        return Err(format!("has {} bytes; at most {PATH_BYTES} are allowed", path.len()));
    }
    if !path.is_empty() && !path.starts_with('/') {
        return Err(format!("`{path:.64}` is not a path; write one such as /rows or /items/0, or an empty text"));
    }
    match path.split('~').skip(1).all(|rest| rest.starts_with(['0', '1'])) {
        true => Ok(()),
        false => Err(format!("`{path:.64}`: write ~0 for `~` and ~1 for `/` within a member's name")),
    }
}

/// The value at the path. None: there is none, or the text is no JSON.
pub(crate) fn value_at<'a>(text: &'a str, path: &str) -> Option<&'a RawValue> {
    let whole: &RawValue = serde_json::from_str(text).ok()?;
    path.split('/').skip(1).try_fold(whole, |value, token| member(value, &token.replace("~1", "/").replace("~0", "~")))
}

fn member<'a>(value: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    match value.get().as_bytes().first()? {
        b'{' => serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(value.get()).ok()?.get(name).copied(),
        b'[' => {
            let is_index = name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
            let index: usize = name.parse().ok().filter(|_| is_index)?;
            serde_json::from_str::<Vec<&RawValue>>(value.get()).ok()?.get(index).copied()
        }
        _ => None,
    }
}

/// What a template inserts: a text without its quotes, anything else as JSON. Empty where there is nothing.
pub(crate) fn inserted(text: &str, path: &str) -> String {
    value_at(text, path).map(text_of).unwrap_or_default()
}

/// A text without its quotes, anything else as JSON.
pub(super) fn text_of(value: &RawValue) -> String {
    match value.get().starts_with('"') {
        true => serde_json::from_str(value.get()).unwrap_or_default(),
        false => value.get().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        r#" {"rows": 12345678901234567890123, "a/b": {"~": [true, "x\ny", {"z":1, "b": 2}]}, "": null} "#;

    #[test]
    fn a_value_is_inserted_as_it_was_written() {
        for (path, inserted_text) in [
            ("/rows", "12345678901234567890123"),
            ("/a~1b/~0/0", "true"),
            ("/a~1b/~0/1", "x\ny"),
            ("/a~1b/~0/2", r#"{"z":1, "b": 2}"#),
            ("/", "null"),
            ("", TEXT.trim()),
            ("/a~1b/~0/00", ""),
            ("/a~1b/~0/+1", ""),
            ("/a~1b/~0/3", ""),
            ("/rows/0", ""),
            ("/none", ""),
        ] {
            assert_eq!(inserted(TEXT, path), inserted_text, "{path}");
            assert_eq!(check_path(path), Ok(()));
        }
        assert_eq!(inserted("no JSON", ""), "");
    }

    #[test]
    fn a_deep_value_is_read_without_recursion() {
        let deep = "[".repeat(30_000) + &"]".repeat(30_000);
        assert_eq!(inserted(&deep, "/0/0").len(), 59_996);
    }

    #[test]
    fn a_wrong_path_is_answered_with_a_right_one() {
        let path = "`rows` is not a path; write one such as /rows or /items/0, or an empty text";
        assert_eq!(check_path("rows").unwrap_err(), path);
        assert_eq!(check_path("/a~2").unwrap_err(), "`/a~2`: write ~0 for `~` and ~1 for `/` within a member's name");
        assert_eq!(check_path(&"/a".repeat(129)).unwrap_err(), "has 258 bytes; at most 256 are allowed");
    }
}
