//! A job in the audit.

use std::borrow::Cow;

use carillon_scheduler::{JobDraft, Millis};
use serde::Serialize;
use serde_json::{Value, json};

use crate::job::stored_job::Job;

/// Characters of the parameters that the audit keeps.
pub(crate) const MOST_PARAMS: usize = 1000;
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
    /// Parameters may be long: only their beginning is kept.
    pub fn new(job: &'a Job) -> Self {
        let mut draft = Cow::Borrowed(&job.draft);
        let params = &job.draft.params;
        if let Some((end, _)) = params.char_indices().nth(MOST_PARAMS) {
            draft.to_mut().params = format!("{}… ({} bytes)", &params[..end], params.len());
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

pub(crate) fn audit_snapshot(job: &Job) -> Value {
    json!(AuditSnapshot::new(job))
}

/// A change of a job as the audit keeps it, under the revision that it made.
pub(crate) fn with_revision(mut detail: Value, revision: i64) -> Value {
    detail["revision"] = json!(revision);
    detail
}
