//! Jobs that are gone, as the audit knows them: their last definition is in the line of their deletion.

use carillon_scheduler::Millis;
use sea_orm::QueryResult;
use serde_json::Value;

use crate::db::row::Columns;
use crate::job::history::{Era, Newest};
use crate::{Result, Store};

/// A job that was deleted.
pub struct Deleted {
    pub job_id: i64,
    pub name: String,
    pub at: Millis,
    newest: Newest,
}

impl Store {
    /// Jobs above `after` that were deleted after `since`, by their numbers.
    pub async fn deleted_jobs(&self, since: Millis, after: i64, limit: u32) -> Result<Vec<Deleted>> {
        let text = "SELECT object_id, at, detail FROM audit WHERE object = 'job' AND object_id > ? AND action = 'delete' AND at > ? \
                    ORDER BY object_id LIMIT ?";
        let values = vec![after.into(), since.into(), i64::from(limit).into()];
        let rows = self.all(&self.read, text, values).await?;
        rows.iter().map(read).collect()
    }

    /// The definitions of a deleted job since then up to its end, the oldest first.
    pub async fn eras_of_deleted(&self, job: &Deleted, since: Millis) -> Result<Vec<Era>> {
        let mut eras = self.eras_before(&job.newest, since).await?;
        if let Some(last) = eras.last_mut() {
            last.to = Some(job.at);
        }
        Ok(eras)
    }
}

fn read(row: &QueryResult) -> Result<Deleted> {
    let mut columns = Columns::of(row);
    let (job_id, at): (i64, Millis) = (columns.next()?, columns.next()?);
    let detail: Value = serde_json::from_str(&columns.next::<String>()?).unwrap_or_default();
    let members = detail["before"].as_object().cloned().unwrap_or_default();
    let name = members.get("name").and_then(Value::as_str).unwrap_or("");
    Ok(Deleted {
        job_id,
        name: name.to_owned(),
        at,
        newest: Newest {
            id: job_id,
            // The deletion made one more.
            revision: detail["revision"].as_i64().map(|revision| revision - 1),
            members,
            created_at: 0,
            updated_at: 0,
        },
    })
}
