//! A job in the audit.

use std::borrow::Cow;

use carillon_scheduler::{JobDraft, Millis, Parts, hex_digest};
use serde::Serialize;
use serde_json::{Value, json};

use crate::job::stored_job::Job;

/// Characters of the parameters that the audit keeps.
const MOST_PARAMS: usize = 1000;
/// Texts of a list of parts that the audit keeps.
const MOST_TEXTS: usize = 200;
/// Characters that it keeps of a longer list.
const SHORT: usize = 100;
/// Digits of a digest, by which two long texts with the same beginning and length differ.
const DIGEST_DIGITS: usize = 12;
/// The members that are no part of a draft.
pub(crate) const STORED_APART: [&str; 3] = ["anchor_at", "spread_offset", "calendar_versions"];

/// A job as the audit shows it, with all that its instants depend on.
#[derive(Serialize)]
pub struct AuditSnapshot<'a> {
    #[serde(flatten)]
    draft: Cow<'a, JobDraft>,
    anchor_at: Millis,
    spread_offset: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    calendar_versions: Option<Value>,
}

impl<'a> AuditSnapshot<'a> {
    /// Parameters and the texts of parts may be long: only their beginning is kept here, and the whole beside it, as `revisions.rs` says.
    pub fn new(job: &'a Job) -> Self {
        let mut draft = Cow::Borrowed(&job.draft);
        if let Cow::Owned(params) = short_params(&job.draft.params) {
            draft.to_mut().params = params;
        }
        if let Cow::Owned(parts) = short_parts(&job.draft.parts) {
            draft.to_mut().parts = parts;
        }
        let has_calendars = !job.calendars.list().is_empty();
        Self {
            draft,
            anchor_at: job.anchor_at,
            spread_offset: job.spread_offset,
            calendar_versions: has_calendars.then(|| job.calendars.versions()),
        }
    }
}

/// Parameters as the audit keeps them: whole, or else their beginning.
pub(crate) fn short_params(params: &str) -> Cow<'_, str> {
    match params.char_indices().nth(MOST_PARAMS) {
        Some((end, _)) => {
            Cow::Owned(format!("{}… ({} bytes, SHA-256 {})", &params[..end], params.len(), short_digest(params)))
        }
        None => Cow::Borrowed(params),
    }
}

fn short_digest(text: &str) -> String {
    hex_digest(text).chars().take(DIGEST_DIGITS).collect()
}

/// A list of parts as the audit keeps it: whole, or else one text with its beginning.
pub(crate) fn short_parts(parts: &Parts) -> Cow<'_, Parts> {
    let texts = parts.texts().unwrap_or_default();
    let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
    if chars <= MOST_PARAMS && texts.len() <= MOST_TEXTS {
        return Cow::Borrowed(parts);
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    let first: String = texts.iter().take(MOST_TEXTS).flat_map(|text| text.chars().chain([' '])).take(SHORT).collect();
    let digest = short_digest(&json!(texts).to_string());
    Cow::Owned(Parts::Each(vec![format!("{first}… ({} texts, {bytes} bytes, SHA-256 {digest})", texts.len())]))
}

/// Whether parameters were too long to be kept whole.
pub(crate) fn is_short_text(params: &Value) -> bool {
    params.as_str().is_some_and(|text| text.chars().nth(MOST_PARAMS).is_some())
}

/// A list that was too long to be kept stands there as one text; a list has two at least.
pub(crate) fn is_short_list(parts: &Value) -> bool {
    parts.as_array().is_some_and(|texts| texts.len() == 1)
}

pub(crate) fn audit_snapshot(job: &Job) -> Value {
    json!(AuditSnapshot::new(job))
}

/// A change of a job as the audit keeps it, under the revision that it made.
pub(crate) fn with_revision(mut detail: Value, revision: i64) -> Value {
    detail["revision"] = json!(revision);
    detail
}
