//! Asks the policy for the entry points: what it does not allow is not done, whichever way a request has come. The actor keeps what it
//! was refused, for the audit.

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_scheduler::AuditObjectKind;
use carillon_store::{Actor, AuditObject, TargetJob};

use crate::engine::Engine;
use crate::manage::error::Error;

/// # Errors
/// `Forbidden`; `Missing`, where the actor may not know that the object exists
pub fn require(by: &Actor, action: Action, object: Object, name: impl FnOnce() -> String) -> Result<(), Error> {
    let audited = match object {
        Object::App(id) => Some(AuditObject::app(id)),
        _ => None,
    };
    require_audited(by, action, object, audited, name)
}

/// `audited`: what the audit names if it is refused.
fn require_audited(
    by: &Actor,
    action: Action,
    object: Object,
    audited: Option<AuditObject>,
    name: impl FnOnce() -> String,
) -> Result<(), Error> {
    let error = match policy::decide(by, action, object) {
        Decision::Allowed => return Ok(()),
        Decision::Forbidden => Error::Forbidden(policy::refusal(action, object)),
        Decision::Hidden => Error::Missing(name()),
    };
    if let Some(audited) = audited {
        by.denials.add(audited);
    }
    Err(error)
}

/// The same of an object that belongs to an app.
fn require_stored(by: &Actor, action: Action, app_id: i64, object: AuditObject) -> Result<(), Error> {
    let name = || format!("{} {}", object.kind, object.id);
    require_audited(by, action, Object::App(app_id), Some(object), name)
}

impl Engine {
    /// # Errors
    /// As [`require`]; `Missing`, if there is no such job. Answers the job as one of its app: where it moves to another one before
    /// it is changed, the change finds no such job.
    pub(super) async fn require_for_job(&self, by: &Actor, action: Action, id: i64) -> Result<TargetJob, Error> {
        let app_id = self.cx.store.apps().app_of_job(id).await?.ok_or_else(|| Error::missing("job", id))?;
        require_stored(by, action, app_id, AuditObject::job(id, app_id))?;
        Ok(TargetJob::of_app(id, app_id))
    }

    /// Answers the app.
    ///
    /// # Errors
    /// As [`require`]; `Missing`, if there is no such run
    pub(super) async fn require_for_run(&self, by: &Actor, action: Action, id: i64) -> Result<i64, Error> {
        let app_id = self.cx.store.apps().app_of_run(id).await?.ok_or_else(|| Error::missing("run", id))?;
        require_stored(by, action, app_id, AuditObject::run(id, app_id))?;
        Ok(app_id)
    }

    /// # Errors
    /// As [`require`]; `Missing`, if there is no such backfill
    pub(super) async fn require_for_backfill(&self, by: &Actor, action: Action, id: i64) -> Result<(), Error> {
        let app_id = self.cx.store.apps().app_of_backfill(id).await?.ok_or_else(|| Error::missing("backfill", id))?;
        let object = AuditObject { app_id: Some(app_id), ..AuditObject::new(AuditObjectKind::Backfill, id) };
        require_stored(by, action, app_id, object)
    }
}
