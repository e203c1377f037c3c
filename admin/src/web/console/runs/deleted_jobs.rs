//! The names of deleted jobs, as the audit has them.

use std::collections::BTreeSet;

use carillon_scheduler::{AuditAction, AuditObjectKind};
use carillon_store::audit::list::AuditFilter;
use serde_json::Value;

use crate::web::console::runs::row::RunRow;
use crate::web::state::State;

/// Deleted jobs of one page that are named.
const NAMED: usize = 20;

/// Names the jobs of these runs that are deleted. One that was deleted in another app stays without its name.
///
/// # Errors
/// The database could not be asked.
pub async fn name_deleted_jobs(state: &State, rows: &mut [RunRow]) -> carillon_store::Result<()> {
    let deleted: BTreeSet<i64> = rows.iter().filter(|row| row.run.job.is_none()).map(|row| row.run.job_id).collect();
    for id in deleted.into_iter().take(NAMED) {
        let about = AuditFilter::about(AuditObjectKind::Job, id);
        let filter = AuditFilter { actions: vec![AuditAction::Delete], limit: 1, ..about };
        let Some(entry) = state.store.audit().list(&filter).await?.items.pop() else {
            continue;
        };
        let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
        let (name, app) = (detail["before"]["name"].as_str(), detail["before"]["app"].as_str());
        for row in rows.iter_mut().filter(|row| row.run.job_id == id && app == Some(row.run.app.as_str())) {
            row.deleted_job = name.map(str::to_owned);
        }
    }
    Ok(())
}
