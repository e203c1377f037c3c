//! What the audit knows of runs: the names of deleted jobs, and who has started a run, asked for its end, or set its outcome.

use std::collections::BTreeSet;

use carillon_scheduler::{AuditAction, AuditObjectKind, Cause};
use carillon_store::RunView;
use carillon_store::audit::list::{AuditFilter, AuditRow};
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

/// None: the program did it, or the audit does not reach back to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPeople {
    pub started: Option<String>,
    pub killed: Option<String>,
    pub resolved: Option<String>,
}

/// # Errors
/// The database could not be asked.
pub async fn people_of(state: &State, run: &RunView) -> carillon_store::Result<RunPeople> {
    let is_asked_for = matches!(run.cause, Cause::Manual | Cause::Api | Cause::Delayed);
    if !is_asked_for && run.kill_asked_at.is_none() && run.finished_at.is_none() {
        return Ok(RunPeople::default());
    }
    let actions = vec![AuditAction::Run, AuditAction::Kill, AuditAction::Resolve];
    let mut filter = AuditFilter { actions, ..AuditFilter::about(AuditObjectKind::Run, run.id) };
    let mut entries = state.store.audit().list(&filter).await?.items;
    // A retry was started with the first attempt, and a delayed run has what was done with its trigger.
    let is_delayed = run.cause == Cause::Delayed;
    if (run.attempt > 1 || is_delayed) && is_asked_for {
        filter.object_id = Some(run.fire_no);
        let of_first = state.store.audit().list(&filter).await?.items.into_iter();
        entries.extend(of_first.filter(|entry| is_delayed || entry.action == "run"));
    }
    let actor = |action: AuditAction| {
        let is_of = |entry: &&AuditRow| entry.action == action.as_str();
        entries.iter().rev().find(is_of).map(|entry| entry.actor.clone())
    };
    Ok(RunPeople {
        started: actor(AuditAction::Run),
        killed: actor(AuditAction::Kill),
        resolved: actor(AuditAction::Resolve),
    })
}
