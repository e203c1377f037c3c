//! A job in the audit.

use serde_json::{Value, json};

use crate::job::stored_job::Job;

/// A job as the audit shows it, with all that its instants depend on. Parameters may be long: only their beginning is
/// kept.
pub(crate) fn audit_snapshot(job: &Job) -> Value {
    let mut value = json!(job.draft);
    value["anchor_at"] = json!(job.anchor_at);
    value["spread_offset"] = json!(job.spread_offset);
    if !job.calendars.list().is_empty() {
        value["calendar_versions"] = job.calendars.versions();
    }
    if job.draft.params.chars().count() > 1000 {
        let start: String = job.draft.params.chars().take(1000).collect();
        value["params"] = json!(format!("{start}… ({} bytes)", job.draft.params.len()));
    }
    value
}

/// A change of a job as the audit keeps it, under the revision that it made.
pub(crate) fn with_revision(mut detail: Value, revision: i64) -> Value {
    detail["revision"] = json!(revision);
    detail
}
