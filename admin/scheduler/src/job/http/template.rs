//! Placeholders in the URL, the headers and the body of a request: those of parameters, and `{{fire_key}}`, `{{params}}`, `{{params#/path}}`,
//! `{{json params}}`, `{{json params#/path}}` and `{{secret.NAME}}`. Unlike in parameters, an unknown name is an error.

use super::values::{HttpValues, Unfillable};
use crate::job::placeholders::{Piece, RunPlaceholder, pieces_of, run_placeholder};
use crate::workflow::{check_path, inserted, value_at};

/// Maximum number of bytes of a placeholder: a path and the words around it.
const PLACEHOLDER_BYTES: usize = 320;
/// Maximum number of placeholders in one text.
const MOST: usize = 50;
/// Maximum number of characters of a secret's name.
pub(crate) const SECRET_NAME_CHARS: usize = 64;
const ALLOWED: &str =
    "scheduled_at, run_id, job_id, attempt, part, parts, fire_key, params, params#/path, json params and secret.NAME";

enum Source<'a> {
    Run(RunPlaceholder<'a>),
    FireKey,
    Params { path: Option<&'a str>, as_json: bool },
    Secret(&'a str),
}

/// How the values of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    None,
    /// Within a text of JSON.
    Json,
    /// Within the path or the query of a URL.
    Url,
}

/// A part of a request.
pub(super) struct Part<'a> {
    /// What people call it.
    pub name: &'a str,
    pub escape: Escape,
    /// Maximum number of bytes with all values.
    pub most: usize,
}

/// Checks the name of a secret: a letter, then letters, digits, `-`, `_` and `.`.
///
/// # Errors
/// Says which rule is broken.
pub fn check_secret_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    match begins && name.len() <= SECRET_NAME_CHARS && name.chars().all(is_allowed) {
        true => Ok(()),
        false => Err(format!(
            "`{name:.64}` is no name of a secret; write up to 64 letters, digits, `-`, `_` and `.`, the first a letter"
        )),
    }
}

/// One error for each placeholder that is wrong.
pub(super) fn faults(text: &str) -> Vec<String> {
    let mut count = 0;
    let mut errors: Vec<String> = sources(text)
        .filter_map(|piece| match piece {
            Piece::Placeholder(source, _) => {
                count += 1;
                source.err()
            }
            Piece::Text(_) => None,
        })
        .collect();
    if count > MOST {
        errors.push(format!("has {count} placeholders; at most {MOST} are allowed"));
    }
    errors
}

/// The names of the secrets in a text.
pub(super) fn secrets_of(text: &str) -> impl Iterator<Item = &str> {
    sources(text).filter_map(|piece| match piece {
        Piece::Placeholder(Ok(Source::Secret(name)), _) => Some(name),
        _ => None,
    })
}

/// The text with all values. Its length is checked after each of them: 50 long ones together would not fit into memory.
pub(super) fn filled(text: &str, values: &HttpValues<'_>, part: &Part<'_>) -> Result<String, Unfillable> {
    let mut filled = String::with_capacity(text.len());
    for piece in sources(text) {
        match piece {
            Piece::Text(text) | Piece::Placeholder(Err(_), text) => filled.push_str(text),
            Piece::Placeholder(Ok(source), _) => filled.push_str(&source.value(values, part.escape)?),
        }
        if filled.len() > part.most {
            return Err(Unfillable::TooLong(part.name.to_owned(), part.most));
        }
    }
    Ok(filled)
}

fn sources(text: &str) -> impl Iterator<Item = Piece<'_, Result<Source<'_>, String>>> {
    pieces_of(text, PLACEHOLDER_BYTES, |inner| Some(source(inner)))
}

fn source(inner: &str) -> Result<Source<'_>, String> {
    let inner = inner.trim();
    if let Some(placeholder) = run_placeholder(inner) {
        placeholder.check()?;
        return Ok(Source::Run(placeholder));
    }
    let (name, as_json) = match inner.strip_prefix("json ") {
        Some(name) => (name.trim(), true),
        None => (inner, false),
    };
    match name.split_once('#').map_or((name, None), |(name, path)| (name.trim(), Some(path.trim()))) {
        ("params", path) => {
            path.map_or(Ok(()), check_path)?;
            Ok(Source::Params { path, as_json })
        }
        ("fire_key", None) if !as_json => Ok(Source::FireKey),
        (name, None) if !as_json && name.starts_with("secret.") => {
            let name = &name["secret.".len()..];
            check_secret_name(name).map(|()| Source::Secret(name))
        }
        _ => Err(format!("the placeholder `{inner:.64}` is not known here; allowed: {ALLOWED}")),
    }
}

impl Source<'_> {
    fn value(&self, values: &HttpValues<'_>, escape: Escape) -> Result<String, Unfillable> {
        let value = match self {
            Self::Run(placeholder) => placeholder.value(&values.run).unwrap_or_default(),
            Self::FireKey => values.fire_key.to_owned(),
            // A value of JSON stands in the body as it is.
            Self::Params { path, as_json: true } => return Ok(json_of(values.params, path.unwrap_or_default())),
            Self::Params { path: Some(path), .. } => inserted(values.params, path),
            Self::Params { path: None, .. } => values.params.to_owned(),
            Self::Secret(name) => match values.secrets.get(*name) {
                Some(secret) => secret.clone(),
                None => return Err(Unfillable::MissingSecret((*name).to_owned())),
            },
        };
        Ok(escape.apply(value))
    }
}

/// The value at a path as JSON: what is none becomes a text, and what is not there `null`.
fn json_of(params: &str, path: &str) -> String {
    match value_at(params, path) {
        Some(value) => value.get().to_owned(),
        None if path.is_empty() => serde_json::Value::from(params).to_string(),
        None => "null".to_owned(),
    }
}

impl Escape {
    pub(crate) fn apply(self, value: String) -> String {
        match self {
            Self::None => value,
            Self::Json => {
                let text = serde_json::Value::from(value).to_string();
                text[1..text.len() - 1].to_owned()
            }
            Self::Url => value.bytes().fold(String::with_capacity(value.len()), |mut text, byte| {
                match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
                    _ => text.push_str(&format!("%{byte:02X}")),
                }
                text
            }),
        }
    }
}
