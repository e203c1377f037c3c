//! Who has started a run, asked for its end, or said what became of it: as the audit has it.

use carillon_scheduler::{AuditAction, AuditObjectKind, Cause};
use carillon_store::RunView;
use carillon_store::audit::list::{AuditFilter, AuditRow};

use crate::web::state::State;

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
    let is_asked_for = matches!(run.cause, Cause::Manual | Cause::Api);
    if !is_asked_for && run.kill_asked_at.is_none() && run.finished_at.is_none() {
        return Ok(RunPeople::default());
    }
    let actions = vec![AuditAction::Run, AuditAction::Kill, AuditAction::Resolve];
    let mut filter = AuditFilter { actions, ..AuditFilter::about(AuditObjectKind::Run, run.id) };
    let mut entries = state.store.audit().list(&filter).await?.items;
    // A retry was started with the first attempt.
    if run.attempt > 1 && is_asked_for {
        filter.object_id = Some(run.fire_no);
        entries.extend(state.store.audit().list(&filter).await?.items.into_iter().filter(|it| it.action == "run"));
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
