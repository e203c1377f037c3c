use carillon_accounts::policy::{Action, Object};
use carillon_store::Actor;
use carillon_store::retention::rules::{EffectiveRetention, Retention, Scope};

use crate::manage::authorize::require;
use crate::manage::entry_points::Retentions;
use crate::manage::error::Error;

impl Retentions<'_> {
    /// The rule of this scope, and what is in force in it.
    ///
    /// # Errors
    /// `Missing`: the app or the job
    pub async fn get(&self, scope: Scope) -> Result<(Retention, EffectiveRetention), Error> {
        let (app_id, job_id) = match scope {
            Scope::All => (0, 0),
            Scope::App(id) => (self.engine.apps().get(id).await?.id, 0),
            Scope::Job(id) => (self.engine.jobs().get(id).await?.app_id, id),
        };
        let rule = self.engine.cx.store.retention().of(scope).await?;
        let in_force = self.engine.cx.store.retention().rules().await?.keep(app_id, job_id);
        Ok((rule, in_force))
    }

    /// Sets the rule of a scope as a whole; `None` leaves a value to the next wider rule.
    ///
    /// # Errors
    /// `Forbidden`. `Missing`: the app or the job. `Invalid`
    pub async fn set(
        &self,
        scope: Scope,
        rule: Retention,
        by: &Actor,
    ) -> Result<(Retention, EffectiveRetention), Error> {
        match scope {
            Scope::All => require(by, Action::Administer, Object::Installation, String::new)?,
            Scope::App(id) => require(by, Action::Administer, Object::App(id), || format!("app {id}"))?,
            Scope::Job(id) => self.engine.require_for_job(by, Action::Edit, id).await.map(drop)?,
        }
        self.get(scope).await?;
        rule.validate().map_err(Error::Invalid)?;
        self.engine.cx.store.retention().set(scope, rule, self.engine.cx.clock.now(), by).await?;
        self.get(scope).await
    }
}
