//! A job in the audit.

use std::borrow::Cow;

use carillon_scheduler::{JobDraft, Millis, Parts};
use serde::Serialize;
use serde_json::{Value, json};

use crate::job::stored_job::Job;

/// Characters of the parameters that the audit keeps.
pub(crate) const MOST_PARAMS: usize = 1000;
/// Texts of a list of parts that the audit keeps.
const MOST_TEXTS: usize = 200;
/// Characters that it keeps of a longer list.
const SHORT: usize = 100;
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
    /// Parameters and the texts of parts may be long: only their beginning is kept.
    pub fn new(job: &'a Job) -> Self {
        let mut draft = Cow::Borrowed(&job.draft);
        let params = &job.draft.params;
        if let Some((end, _)) = params.char_indices().nth(MOST_PARAMS) {
            draft.to_mut().params = format!("{}… ({} bytes)", &params[..end], params.len());
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

/// A list of parts as the audit keeps it: whole, or else one text with its beginning.
pub(crate) fn short_parts(parts: &Parts) -> Cow<'_, Parts> {
    let texts = parts.texts().unwrap_or_default();
    let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
    if chars <= MOST_PARAMS && texts.len() <= MOST_TEXTS {
        return Cow::Borrowed(parts);
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    let first: String = texts.iter().take(MOST_TEXTS).flat_map(|text| text.chars().chain([' '])).take(SHORT).collect();
    Cow::Owned(Parts::Each(vec![format!("{first}… ({} texts, {bytes} bytes)", texts.len())]))
}

pub(crate) fn audit_snapshot(job: &Job) -> Value {
    json!(AuditSnapshot::new(job))
}

/// A change of a job as the audit keeps it, under the revision that it made.
pub(crate) fn with_revision(mut detail: Value, revision: i64) -> Value {
    detail["revision"] = json!(revision);
    detail
}
