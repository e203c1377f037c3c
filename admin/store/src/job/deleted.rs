//! Jobs that are gone, as the audit knows them: their last definition is in the line of their deletion.

use carillon_scheduler::Millis;
use serde_json::Value;

use crate::error::Result;
use crate::job::history::{CurrentDefinition, DefinitionVersion};
use crate::views::JobStore;

/// A job that was deleted.
pub struct Deleted {
    pub job_id: i64,
    pub name: String,
    pub at: Millis,
    newest: CurrentDefinition,
}

impl JobStore<'_> {
    /// Jobs above `after` that were deleted after `since`, by their numbers.
    pub async fn deleted(self, since: Millis, after: i64, limit: u32) -> Result<Vec<Deleted>> {
        let text = "SELECT object_id, at, detail FROM audit WHERE object = 'job' AND object_id > ? AND action = {action.delete} AND at > ? \
                    ORDER BY object_id LIMIT ?";
        let values = values![after, since, i64::from(limit)];
        Ok(self.tuples(&self.read, text, values).await?.into_iter().map(deleted).collect())
    }

    /// The definitions of a deleted job since then up to its end, the oldest first.
    pub async fn versions_of_deleted(self, job: &Deleted, since: Millis) -> Result<Vec<DefinitionVersion>> {
        let mut eras = self.versions_before(&job.newest, since).await?;
        if let Some(last) = eras.last_mut() {
            last.to = Some(job.at);
        }
        Ok(eras)
    }
}

fn deleted((job_id, at, detail): (i64, Millis, String)) -> Deleted {
    let detail: Value = serde_json::from_str(&detail).unwrap_or_default();
    let members = detail["before"].as_object().cloned().unwrap_or_default();
    let name = members.get("name").and_then(Value::as_str).unwrap_or("");
    Deleted {
        job_id,
        name: name.to_owned(),
        at,
        newest: CurrentDefinition {
            id: job_id,
            // The deletion made one more.
            revision: detail["revision"].as_i64().map(|revision| revision - 1),
            members,
            created_at: 0,
            updated_at: 0,
        },
    }
}
