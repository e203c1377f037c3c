//! The request of a job that is not saved yet, sent once: what the service answers, and what that would mean for a run.

use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::{AuditAction, JobDraft};
use carillon_store::{Actor, AuditObject};

use serde_json::json;

use crate::executor::http::SentOnce;
use crate::manage::authorize::require;
use crate::manage::entry_points::Jobs;
use crate::manage::error::Error;

impl Jobs<'_> {
    /// Sends the request of a draft. No run is made, and the answer is not kept; that it was sent is in the audit.
    ///
    /// # Errors
    /// `Forbidden`; `Invalid`: the app, or the request; `TooMany`
    pub async fn send_once(&self, draft: &JobDraft, by: &Actor) -> Result<SentOnce, Error> {
        let engine = self.engine;
        let request = draft
            .http
            .as_ref()
            .ok_or_else(|| Error::field("http", "must be given: there is no request to send".to_owned()))?;
        let app = engine.cx.store.apps().by_name(&draft.app).await?;
        let app = app.ok_or_else(|| Error::field("app", format!("there is no app `{:.64}`", draft.app)))?;
        require(by, Action::Edit, Object::App(app.id), || format!("app {}", app.id))?;
        let faults = request.validate();
        if !faults.is_empty() {
            return Err(Error::Invalid(faults));
        }
        let _place = engine.costly.enter(by).await?;
        engine.costly.count_runs(1, by)?;
        // Without its path, which may hold what only the service knows.
        let target = format!("{} {}", request.method, request.origin().unwrap_or_default());
        let (object, now) = (AuditObject::app(app.id), engine.cx.clock.now());
        engine.cx.store.audit().record(by, AuditAction::Run, object, json!({"http": target}), now).await?;
        let zone = draft.schedule.zone();
        Ok(Box::pin(engine.http.send_once(&engine.cx, app.id, request, (draft.params.as_str(), zone))).await)
    }
}
