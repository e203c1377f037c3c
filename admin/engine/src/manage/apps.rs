use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::{FieldError, validate_app_name};
use carillon_store::{Actor, App};

use crate::engine::Engine;
use crate::manage::authorize::require;
use crate::manage::error::Error;

/// Longest title, in characters.
const TITLE_CHARS: usize = 64;

/// Groups of executors under one name.
pub struct Apps<'a> {
    pub(super) engine: &'a Engine,
}

impl Apps<'_> {
    /// What is wrong with the name and the title of a new app.
    ///
    /// # Errors
    /// `Invalid`
    pub fn check(&self, name: &str, title: Option<&str>) -> Result<(), Error> {
        let wrong_name = validate_app_name(name).err().map(|message| FieldError::new("name", message));
        let wrong_title = title.and_then(|title| check_title(title.trim()).err());
        let wrong: Vec<FieldError> =
            wrong_name.into_iter().chain(wrong_title.map(|message| FieldError::new("title", message))).collect();
        if wrong.is_empty() { Ok(()) } else { Err(Error::Invalid(wrong)) }
    }

    /// Creates an app. Without a title, the name takes its place.
    ///
    /// # Errors
    /// `Forbidden`, `Invalid`, `Taken`
    pub async fn create(&self, name: &str, title: Option<&str>, by: &Actor) -> Result<App, Error> {
        require(by, Action::Administer, Object::Installation, String::new)?;
        self.check(name, title)?;
        let engine = self.engine;
        let app = engine.cx.store.create_app(name, title.map_or(name, str::trim), engine.cx.clock.now(), by).await?;
        engine.directory.changed.notify_one();
        Ok(app)
    }

    /// The app of this name, for a filter. One that the actor does not see does not exist.
    ///
    /// # Errors
    /// `Invalid`
    pub async fn named(&self, name: &str, by: &Actor) -> Result<App, Error> {
        let found = self.engine.cx.store.app_by_name(name).await?;
        let found = found.filter(|app| by.grants.role_for(app.id).is_some());
        found.ok_or_else(|| Error::field("app", format!("there is no app `{name:.64}`")))
    }

    /// # Errors
    /// `Missing`
    pub async fn get(&self, id: i64) -> Result<App, Error> {
        self.engine.cx.store.app(id).await?.ok_or_else(|| Error::missing("app", id))
    }
}

fn check_title(title: &str) -> Result<(), String> {
    match title.chars().count() {
        count if count > TITLE_CHARS => Err(format!("has {count} characters; at most {TITLE_CHARS} are allowed")),
        _ if title.chars().any(char::is_control) => Err("must be one line without control characters".to_owned()),
        _ => Ok(()),
    }
}
