//! Secrets of an app, which the requests of its HTTP jobs name. Nothing shows a value again.

use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::FieldError;
use carillon_scheduler::job::http::check_secret_name;
use carillon_store::app::secrets::SecretName;
use carillon_store::{Actor, App};

use crate::executor::secrets::seal_context;
use crate::manage::authorize::require;
use crate::manage::entry_points::AppSecrets;
use crate::manage::error::Error;

/// A shorter one cannot be told from other words of a log, in which it is masked.
const LEAST_BYTES: usize = 8;
const MOST_BYTES: usize = 4_096;

impl AppSecrets<'_> {
    /// Their names, in the order of the alphabet.
    ///
    /// # Errors
    /// `Missing`: the app
    pub async fn list(&self, app_id: i64) -> Result<Vec<SecretName>, Error> {
        let app = self.engine.apps().get(app_id).await?;
        Ok(self.engine.cx.store.apps().secret_names(app.id).await?)
    }

    /// Sets or replaces a secret.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`: the app; `Invalid`: the name or the value; `InUse`: the app has too many, or no key is set.
    pub async fn set(&self, app_id: i64, name: &str, value: &str, by: &Actor) -> Result<(), Error> {
        let app = self.administered(app_id, by).await?;
        let wrong = [("name", check_secret_name(name)), ("value", check_value(value))];
        let wrong: Vec<FieldError> =
            wrong.into_iter().filter_map(|(field, result)| Some(FieldError::new(field, result.err()?))).collect();
        if !wrong.is_empty() {
            return Err(Error::Invalid(wrong));
        }
        let engine = self.engine;
        let sealed = engine.executor_tokens().keys().seal(&seal_context(app.id, name), value);
        let sealed = sealed.map_err(|error| Error::InUse(error.to_string()))?;
        Ok(engine.cx.store.apps().set_secret(&app, name, &sealed, engine.cx.clock.now(), by).await?)
    }

    /// Deletes a secret; runs that need it fail before they are sent.
    ///
    /// # Errors
    /// `Forbidden`; `Missing`: the app or the secret
    pub async fn delete(&self, app_id: i64, name: &str, by: &Actor) -> Result<(), Error> {
        let app = self.administered(app_id, by).await?;
        let engine = self.engine;
        match engine.cx.store.apps().delete_secret(&app, name, engine.cx.clock.now(), by).await? {
            true => Ok(()),
            false => Err(Error::Missing(format!("secret {name:.64}"))),
        }
    }

    async fn administered(&self, app_id: i64, by: &Actor) -> Result<App, Error> {
        require(by, Action::Administer, Object::App(app_id), || format!("app {app_id}"))?;
        self.engine.apps().get(app_id).await
    }
}

fn check_value(value: &str) -> Result<(), String> {
    match value.len() {
        size if !(LEAST_BYTES..=MOST_BYTES).contains(&size) => {
            Err(format!("has {size} bytes; a secret has {LEAST_BYTES} to {MOST_BYTES}"))
        }
        _ if value.contains('\0') => Err("must not contain the character NUL".to_owned()),
        _ => Ok(()),
    }
}
