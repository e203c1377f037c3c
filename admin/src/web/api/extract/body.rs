//! Bodies: read up to a limit, parsed as JSON under any content type. Errors name the member.

use std::collections::HashMap;

use actix_web::dev;
use actix_web::web::Payload;
use actix_web::{FromRequest, HttpRequest};
use futures_util::future::LocalBoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::{Path, Segment};
use utoipa::ToSchema;
use utoipa::openapi::Required;

use crate::web::api::error::Error;
use crate::web::limits::slow_body_guard;

/// What a path takes as its body.
pub trait RequestBody: Sized + 'static {
    /// What the document says about it.
    type Schema: ToSchema;
    const REQUIRED: Required = Required::True;
    /// For errors: `a job`, or an example.
    const WHAT: &'static str;
    /// In bytes. A job whose parameters are as long as allowed, escaped in the longest way, fits in.
    const LIMIT: usize = 1024 * 1024;

    fn read(value: Value) -> Result<Self, Error>;

    /// The value of an empty body.
    fn empty() -> Result<Self, Error> {
        Err(empty_body(Self::WHAT))
    }
}

/// A body that is an object with the members of the type.
pub trait ObjectBody: DeserializeOwned + ToSchema + 'static {
    const WHAT: &'static str;
    /// An empty body is an object without members.
    const MAY_BE_EMPTY: bool = false;
}

impl<T: ObjectBody> RequestBody for T {
    type Schema = Self;
    const REQUIRED: Required = if T::MAY_BE_EMPTY { Required::False } else { Required::True };
    const WHAT: &'static str = <T as ObjectBody>::WHAT;

    fn read(value: Value) -> Result<Self, Error> {
        if !value.is_object() {
            return Err(Error::invalid(format!("the body must be {} as an object", <T as ObjectBody>::WHAT)));
        }
        from_json(&value)
    }

    fn empty() -> Result<Self, Error> {
        if T::MAY_BE_EMPTY { from_json(&json!({})) } else { Err(empty_body(<T as ObjectBody>::WHAT)) }
    }
}

fn empty_body(what: &str) -> Error {
    Error::invalid_json(format!("the body is empty; send {what} as JSON"))
}

/// Values of a body and the levels of their nesting. A batch of as many jobs as are allowed has fewer.
const MOST_VALUES: usize = 250_000;
const DEEPEST: i32 = 16;

/// Faults of one object that are looked for: more than a job has members.
const MOST_FAULTS: usize = 60;

/// The body of a request.
pub struct Body<T>(pub T);

impl<T: RequestBody> FromRequest for Body<T> {
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self, Error>>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let payload = Payload::from_request(request, payload).into_inner();
        Box::pin(async {
            let payload = payload.map_err(|error| Error::invalid_json(error.to_string()))?;
            match read_json(payload, T::LIMIT).await? {
                Some(value) => T::read(value).map(Self),
                None => T::empty().map(Self),
            }
        })
    }
}

/// The body as JSON; None if it is empty.
async fn read_json(payload: Payload, limit: usize) -> Result<Option<Value>, Error> {
    let bytes = match payload.to_bytes_limited(limit).await {
        Err(_too_large) => return Err(Error::too_large(limit)),
        Ok(Err(error)) if slow_body_guard::is_out_of_memory(&error) => {
            return Err(Error::unavailable(slow_body_guard::FULL));
        }
        Ok(Err(error)) => return Err(Error::invalid_json(format!("the body broke off: {error}"))),
        Ok(Ok(bytes)) => bytes,
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    check_shape(&bytes)?;
    let wrong = |error| Error::invalid_json(format!("the body is no JSON: {error}"));
    serde_json::from_slice(&bytes).map(Some).map_err(wrong)
}

/// Before a tree is built: each value takes 32 bytes there, however short it is in the text.
fn check_shape(bytes: &[u8]) -> Result<(), Error> {
    let (mut values, mut depth, mut in_text, mut escaped) = (1, 0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b',' | b':' => values += 1,
            b'[' | b'{' => (values, depth) = (values + 1, depth + 1),
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth > DEEPEST {
            return Err(Error::invalid_json(format!("the body is nested deeper than {DEEPEST} levels")));
        }
        if values > MOST_VALUES {
            return Err(Error::invalid_json(format!("the body has more than {MOST_VALUES} values")));
        }
    }
    Ok(())
}

/// What could be read of a body, and what is wrong with it.
pub struct Parsed<T> {
    /// Without the members that are wrong. None: nothing can stand for one of them.
    pub value: Option<T>,
    pub faults: Vec<Error>,
}

/// Reads the members of an object. serde stops at the first that is wrong, so that one, or the item of a list, is taken out, or an
/// empty text is put in for a missing one, and the rest is read again.
pub fn parse<T: DeserializeOwned>(mut value: Value) -> Parsed<T> {
    let mut faults: Vec<Error> = vec![];
    let mut taken_out = HashMap::new();
    for _ in 0..MOST_FAULTS {
        let fault = match read_once::<T>(&value) {
            Ok(found) => return Parsed { value: Some(found), faults },
            Err(fault) => fault,
        };
        if let Some(fault) = without_item(&mut value, &fault, &mut taken_out) {
            faults.push(fault);
            continue;
        }
        let name = fault.of_field().map(|field| field.split(['.', '[']).next().unwrap_or(field).to_owned());
        let (Some(name), Value::Object(members)) = (name, &mut value) else {
            faults.push(fault);
            break;
        };
        let is_known =
            faults.iter().any(|known| known.of_field().is_some_and(|field| field.split('.').next() == Some(&name)));
        let is_stand_in = is_known && members.get(&name).is_some_and(|value| value == "");
        if !is_known {
            faults.push(fault);
        }
        if is_stand_in {
            break;
        }
        if members.remove(&name).is_none() {
            members.insert(name, Value::String(String::new()));
        }
    }
    Parsed { value: None, faults }
}

/// Takes a wrong item out of a list of texts or numbers. The fault names the place that it had in the request.
fn without_item(value: &mut Value, fault: &Error, taken_out: &mut HashMap<String, usize>) -> Option<Error> {
    let (name, rest) = fault.of_field()?.split_once('[')?;
    let index: usize = rest.strip_suffix(']')?.parse().ok()?;
    let items = value.get_mut(name)?.as_array_mut()?;
    if index >= items.len() {
        return None;
    }
    items.remove(index);
    let before = taken_out.entry(name.to_owned()).or_default();
    let place = format!("{name}[{}]", index + *before);
    *before += 1;
    Some(fault.clone().at(place))
}

/// A value of a body; the errors name all members that are wrong.
pub fn from_json<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    let read = parse(value.clone());
    match read.value {
        Some(found) if read.faults.is_empty() => Ok(found),
        _ => Err(Error::all(read.faults)),
    }
}

/// An error names the member where reading stopped.
fn read_once<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, Error> {
    serde_path_to_error::deserialize(value).map_err(|error| member_error(error.path(), &error.inner().to_string()))
}

/// serde reports a missing member at the object that lacks it, so that the name is only in the text; the path of an unknown member
/// ends with the member.
fn member_error(path: &Path, text: &str) -> Error {
    let missing = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    let mut field: Option<String> = (path.iter().len() > 0).then(|| path.to_string());
    if let Some(name) = missing {
        field = Some(field.map_or_else(|| name.to_owned(), |outer| format!("{outer}.{name}")));
    }
    let message = match (missing, path.iter().next_back()) {
        (Some(_), _) => "is missing; it is required".to_owned(),
        (None, Some(Segment::Map { key })) if text.starts_with(&format!("unknown field `{key}`, ")) => {
            let allowed = text.split_once(", ").map_or("", |(_, rest)| rest);
            format!("there is no member `{key}`; {allowed}")
        }
        _ => in_words_of_json(text),
    };
    match field {
        Some(field) => Error::field(field, message),
        None => Error::invalid(message),
    }
}

/// serde names the types of Rust.
fn in_words_of_json(text: &str) -> String {
    let names =
        [("i32", "a whole number"), ("i64", "a whole number"), ("u32", "a whole number"), ("a sequence", "a list")];
    let replace = |text: String, (rust, json)| text.replace(&format!("expected {rust}"), &format!("expected {json}"));
    names.into_iter().fold(text.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "retries")]
        _retries: Option<i32>,
        #[serde(rename = "inner")]
        _inner: Inner,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "list")]
        _list: Vec<i64>,
    }

    // covers: W10
    #[test]
    fn a_body_of_many_small_values_is_refused_before_a_tree_is_built() {
        let said = |text: &str| check_shape(text.as_bytes()).map_err(|error| error.to_string());
        assert_eq!(said(&format!("[{}0]", "0,".repeat(249_000))), Ok(()));
        assert!(said(&format!("[{}0]", "0,".repeat(250_000))).unwrap_err().contains("250000 values"));
        assert!(said(&"[".repeat(17)).unwrap_err().contains("16 levels"));
        let text = format!("{{\"params\":\"{}\"}}", "[,{\\\"\\\\".repeat(100_000));
        assert_eq!(said(&text), Ok(()), "what is in a text is no value");
        assert_eq!(said("]]]]"), Ok(()), "that it is no JSON says the parser");
    }

    #[test]
    fn errors_name_the_member() {
        for (value, text) in [
            (json!({"x": 1}), "x: there is no member `x`; expected `retries` or `inner`"),
            (json!({"inner": {"x": 1}}), "inner.x: there is no member `x`; expected `list`"),
            (json!({}), "inner: is missing; it is required"),
            (json!({"inner": {}}), "inner.list: is missing; it is required"),
            (json!({"retries": "3"}), "retries: invalid type: string \"3\", expected a whole number"),
            (
                json!({"inner": {"list": [1, "x"]}}),
                "inner.list[1]: invalid type: string \"x\", expected a whole number",
            ),
        ] {
            assert_eq!(from_json::<Outer>(&value).unwrap_err().to_string(), text);
        }
        assert!(from_json::<String>(&json!({})).unwrap_err().to_string().starts_with("invalid type: map"));
    }
}
