//! Asks the policy for the entry points: what it does not allow is not done, whichever way a request has come.

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_store::Actor;

use crate::engine::Engine;
use crate::manage::error::Error;

/// # Errors
/// `Forbidden`; `Missing`, where the actor may not know that the object exists
pub(super) fn require(by: &Actor, action: Action, object: Object, name: impl FnOnce() -> String) -> Result<(), Error> {
    match policy::decide(by, action, object) {
        Decision::Allowed => Ok(()),
        Decision::Forbidden => Err(Error::Forbidden(policy::refusal(action, object))),
        Decision::Hidden => Err(Error::Missing(name())),
    }
}

impl Engine {
    /// # Errors
    /// As [`require`]; `Missing`, if there is no such job
    pub(super) async fn require_for_job(&self, by: &Actor, action: Action, id: i64) -> Result<(), Error> {
        let app_id = self.cx.store.app_of_job(id).await?.ok_or_else(|| Error::missing("job", id))?;
        require(by, action, Object::App(app_id), || format!("job {id}"))
    }

    /// # Errors
    /// As [`require`]; `Missing`, if there is no such run. Answers its app.
    pub(super) async fn require_for_run(&self, by: &Actor, action: Action, id: i64) -> Result<i64, Error> {
        let app_id = self.cx.store.app_of_run(id).await?.ok_or_else(|| Error::missing("run", id))?;
        require(by, action, Object::App(app_id), || format!("run {id}"))?;
        Ok(app_id)
    }

    /// # Errors
    /// As [`require`]; `Missing`, if there is no such backfill
    pub(super) async fn require_for_backfill(&self, by: &Actor, action: Action, id: i64) -> Result<(), Error> {
        let app_id = self.cx.store.app_of_backfill(id).await?.ok_or_else(|| Error::missing("backfill", id))?;
        require(by, action, Object::App(app_id), || format!("backfill {id}"))
    }
}
