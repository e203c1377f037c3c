use carillon_accounts::policy::{Action, Object};
use carillon_accounts::secret::{hash, random_secret};
use carillon_accounts::token::{MAX_DAYS, name_complaint};
use carillon_scheduler::{FieldError, Millis};
use carillon_store::app::executor_tokens::{ExecutorToken, NewExecutorToken};
use carillon_store::{Actor, App};

use crate::executor::tokens::seal_context;
use crate::manage::authorize::require;
use crate::manage::entry_points::AppTokens;
use crate::manage::error::Error;

const DAY_MS: Millis = 86_400_000;

impl AppTokens<'_> {
    /// Newest first.
    ///
    /// # Errors
    /// `Missing`: the app
    pub async fn list(&self, app_id: i64) -> Result<Vec<ExecutorToken>, Error> {
        let app = self.engine.apps().get(app_id).await?;
        Ok(self.engine.cx.store.apps().executor_tokens_of(app.id).await?)
    }

    /// Makes a token, which is returned once. Without `days` it lasts until it is revoked.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`: the app; `Invalid`: the name or the days; `InUse`: two tokens are valid already, or no key is set.
    pub async fn create(
        &self,
        app_id: i64,
        name: &str,
        days: Option<i64>,
        by: &Actor,
    ) -> Result<(ExecutorToken, String), Error> {
        let app = self.administered(app_id, by).await?;
        Self::check(name, days)?;
        let engine = self.engine;
        let now = engine.cx.clock.now();
        let token = random_secret();
        let token_hash = hash(&token);
        let sealed = engine.client.tokens.keys().seal(&seal_context(app.id, &token_hash), &token);
        let sealed = sealed.map_err(|error| Error::InUse(error.to_string()))?;
        let expires_at = days.map(|days| now + days * DAY_MS);
        let new = NewExecutorToken { name, token_hash: &token_hash, sealed: &sealed, now, expires_at };
        let created = engine.cx.store.apps().create_executor_token(&app, &new, by).await?;
        self.apply().await;
        Ok((created, token))
    }

    /// Ends a token: its executors are refused, and called no more.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`: the app or the token
    pub async fn revoke(&self, app_id: i64, id: i64, by: &Actor) -> Result<(), Error> {
        let app = self.administered(app_id, by).await?;
        let engine = self.engine;
        if !engine.cx.store.apps().revoke_executor_token(&app, id, engine.cx.clock.now(), by).await? {
            return Err(Error::missing("token", id));
        }
        self.apply().await;
        Ok(())
    }

    /// Whether the app accepts its own tokens alone, or the one of all apps as well.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`: the app; `InUse`: it has no valid token of its own.
    pub async fn set_own_tokens_only(&self, app_id: i64, is_set: bool, by: &Actor) -> Result<App, Error> {
        let app = self.administered(app_id, by).await?;
        let engine = self.engine;
        engine.cx.store.apps().set_own_tokens_only(&app, is_set, engine.cx.clock.now(), by).await?;
        self.apply().await;
        engine.apps().get(app_id).await
    }

    /// What is wrong with a token that is asked for.
    ///
    /// # Errors
    /// `Invalid`
    pub fn check(name: &str, days: Option<i64>) -> Result<(), Error> {
        let name = name_complaint(name).map(|complaint| FieldError::new("name", complaint));
        let is_wrong = days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days));
        let days = is_wrong.then(|| FieldError::new("days", format!("a token lasts 1 to {MAX_DAYS} days")));
        let wrong: Vec<FieldError> = name.into_iter().chain(days).collect();
        if wrong.is_empty() { Ok(()) } else { Err(Error::Invalid(wrong)) }
    }

    async fn administered(&self, app_id: i64, by: &Actor) -> Result<App, Error> {
        require(by, Action::Administer, Object::App(app_id), || format!("app {app_id}"))?;
        self.engine.apps().get(app_id).await
    }

    /// Reads the tokens again if there is one that this node does not know: another node has made it within the last second.
    ///
    /// # Errors
    /// The database could not be asked.
    pub async fn learn(&self) -> carillon_store::Result<()> {
        let ids = self.engine.cx.store.apps().executor_token_ids().await?;
        if self.engine.executor_tokens().knows_all(&ids) {
            return Ok(());
        }
        self.engine.directory.refresh().await
    }

    /// This node knows of the change at once, the others within a second.
    async fn apply(&self) {
        if let Err(error) = self.engine.directory.refresh().await {
            tracing::warn!(%error, "the changed tokens of an app are read within a second");
        }
    }
}
