//! Bodies: read up to a limit, parsed as JSON whatever the content type says, errors in terms of the sender's members.

use actix_web::web::Payload;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::Error;
use crate::web::pace;

/// One object: a job whose parameters are as long as allowed, escaped as badly as possible.
pub const OBJECT: usize = 1024 * 1024;
/// A batch.
pub const BATCH: usize = 16 * 1024 * 1024;

/// The body as JSON; None if it is empty.
pub async fn read(payload: Payload, limit: usize) -> Result<Option<Value>, Error> {
    let bytes = match payload.to_bytes_limited(limit).await {
        Err(_too_large) => return Err(Error::too_large(limit)),
        Ok(Err(error)) if pace::is_out_of_memory(&error) => {
            return Err(Error::unavailable(pace::FULL));
        }
        Ok(Err(error)) => return Err(Error::invalid_json(format!("the body broke off: {error}"))),
        Ok(Ok(bytes)) => bytes,
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let wrong = |error| Error::invalid_json(format!("the body is no JSON: {error}"));
    serde_json::from_slice(&bytes).map(Some).map_err(wrong)
}

/// The same where a body is needed.
pub async fn required(payload: Payload, limit: usize, what: &str) -> Result<Value, Error> {
    read(payload, limit).await?.ok_or_else(|| Error::invalid_json(format!("the body is empty; send {what} as JSON")))
}

/// An object whose members all are simple.
pub fn object<T: DeserializeOwned>(value: Value, what: &str) -> Result<T, Error> {
    if !value.is_object() {
        return Err(Error::invalid(format!("the body must be {what} as an object")));
    }
    serde_json::from_value(value).map_err(|error| member_error(&error.to_string()))
}

/// Finds the member in one of serde's texts: `member: …`, ``unknown field `member` …``, ``missing field `member` ``.
pub fn member_error(text: &str) -> Error {
    let quoted = |start: &str| text.strip_prefix(start)?.split_once('`').map(|(name, _)| name);
    if let Some(name) = quoted("unknown field `") {
        let rest = text.split_once(", ").map_or("", |(_, rest)| rest);
        return Error::field(name, format!("there is no member `{name}`; {rest}"));
    }
    if let Some(name) = quoted("missing field `") {
        return Error::field(name, "is missing; it is required");
    }
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || "_.".contains(c));
    match text.split_once(": ") {
        Some((name, rest)) if is_name(name) => Error::field(name, plain(rest)),
        _ => Error::invalid(plain(text)),
    }
}

/// Types as JSON calls them.
fn plain(text: &str) -> String {
    ["i32", "i64"]
        .iter()
        .fold(text.to_owned(), |text, name| text.replace(&format!("expected {name}"), "expected a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        member_error(text).to_string()
    }

    #[test]
    fn texts_of_serde_become_errors_of_members() {
        assert_eq!(
            told("unknown field `x`, expected `name` or `title`"),
            "x: there is no member `x`; expected `name` or `title`"
        );
        assert_eq!(told("missing field `handler`"), "handler: is missing; it is required");
        assert_eq!(
            told("retries: invalid type: string \"3\", expected i32"),
            "retries: invalid type: string \"3\", expected a whole number"
        );
        assert_eq!(told("schedule.seconds: missing"), "schedule.seconds: missing");
        assert_eq!(told("invalid type: map, expected a string"), "invalid type: map, expected a string");
    }
}
