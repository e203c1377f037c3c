use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::run::limit::MAX_WEIGHT;
use carillon_scheduler::{FieldError, validate_app_name};
use carillon_store::app::delete_app::AppUse;
use carillon_store::app::rename::FormerName;
use carillon_store::{Actor, App};

use crate::manage::authorize::require;
use crate::manage::entry_points::Apps;
use crate::manage::error::Error;

/// Longest title, in characters.
const TITLE_CHARS: usize = 64;

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
        let app = engine.cx.store.apps().create(name, title.map_or(name, str::trim), engine.cx.clock.now(), by).await?;
        engine.directory.changed.notify_one();
        Ok(app)
    }

    /// The app of this name, for a filter. One that the actor does not see does not exist.
    ///
    /// # Errors
    /// `Invalid`
    pub async fn named(&self, name: &str, by: &Actor) -> Result<App, Error> {
        let found = self.engine.cx.store.apps().by_name(name).await?;
        let found = found.filter(|app| require(by, Action::View, Object::App(app.id), String::new).is_ok());
        found.ok_or_else(|| Error::field("app", format!("there is no app `{name:.64}`")))
    }

    /// Sets the name, the title, or both. Executors may register under the old name until it is removed; jobs, runs and tokens stay
    /// with the app. All nodes know it within two seconds.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Invalid`, `Taken`
    pub async fn update(&self, id: i64, name: Option<&str>, title: Option<&str>, by: &Actor) -> Result<App, Error> {
        require(by, Action::Administer, Object::Installation, String::new)?;
        let old = self.get(id).await?;
        // Names of before have other rules, perhaps: only a new one is checked.
        match name.filter(|name| *name != old.name) {
            Some(name) => self.check(name, title)?,
            None => self.check("name", title)?,
        }
        let (name, title) = (name.unwrap_or(&old.name), title.map_or(old.title.as_str(), str::trim));
        let cx = &self.engine.cx;
        let app = cx.store.apps().update(id, name, title, cx.clock.now(), by).await?;
        self.apply().await;
        Ok(app)
    }

    /// Sets whether the app's executors that announce nothing, as those in Java, run scripts.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`
    pub async fn set_runs_scripts(&self, id: i64, runs_scripts: bool, by: &Actor) -> Result<App, Error> {
        require(by, Action::Administer, Object::Installation, String::new)?;
        let cx = &self.engine.cx;
        let app = cx.store.apps().set_runs_scripts(id, runs_scripts, cx.clock.now(), by).await?;
        self.apply().await;
        Ok(app)
    }

    /// Sets the turns of the app's runs where runs of several apps wait for a limit.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Invalid`
    pub async fn set_weight(&self, id: i64, weight: i32, by: &Actor) -> Result<App, Error> {
        require(by, Action::Administer, Object::Installation, String::new)?;
        if !(1..=MAX_WEIGHT.cast_signed()).contains(&weight) {
            return Err(Error::field("weight", format!("{weight} is not allowed; 1 to {MAX_WEIGHT}")));
        }
        let cx = &self.engine.cx;
        Ok(cx.store.apps().set_weight(id, weight, cx.clock.now(), by).await?)
    }

    /// Removes a former name: executors that register under it are those of no app.
    ///
    /// # Errors
    /// `Forbidden`. `Missing`: the app, or the former name
    pub async fn remove_name(&self, id: i64, name: &str, by: &Actor) -> Result<(), Error> {
        require(by, Action::Administer, Object::Installation, String::new)?;
        let (app, cx) = (self.get(id).await?, &self.engine.cx);
        if !cx.store.apps().remove_former_name(&app, name, cx.clock.now(), by).await? {
            return Err(Error::Missing(format!("former name {name:?} of app {}", app.name)));
        }
        self.apply().await;
        Ok(())
    }

    /// The former names of an app, by name.
    ///
    /// # Errors
    /// `Missing`
    pub async fn former_names(&self, id: i64) -> Result<Vec<FormerName>, Error> {
        let app = self.get(id).await?;
        let mut all = self.engine.cx.store.apps().former_names().await?;
        all.retain(|former| former.app_id == app.id);
        Ok(all)
    }

    /// The names of the apps whose jobs may start jobs of this app, as children of theirs.
    ///
    /// # Errors
    /// `Missing`
    pub async fn starters(&self, id: i64) -> Result<Vec<String>, Error> {
        let app = self.get(id).await?;
        Ok(self.engine.cx.store.apps().starters(app.id).await?.into_iter().map(|(_, name)| name).collect())
    }

    /// Sets those apps. A link of a job whose app is taken out starts nothing from then on.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`. `Invalid`: an app that does not exist, or that the actor does not see and that was not there before.
    pub async fn set_starters(&self, id: i64, names: &[String], by: &Actor) -> Result<(), Error> {
        require(by, Action::Administer, Object::App(id), || format!("app {id}"))?;
        let (app, cx) = (self.get(id).await?, &self.engine.cx);
        let before: Vec<i64> = cx.store.apps().starters(id).await?.into_iter().map(|(starter, _)| starter).collect();
        let (mut starters, mut wrong) = (vec![], vec![]);
        for name in names {
            let found = cx.store.apps().by_name(name).await?.filter(|it| it.id != id);
            let may_name = |it: &App| {
                before.contains(&it.id) || require(by, Action::View, Object::App(it.id), String::new).is_ok()
            };
            match found.filter(may_name) {
                Some(starter) => starters.push(starter),
                None => wrong.push(FieldError::new("apps", format!("there is no other app `{name:.64}`"))),
            }
        }
        if !wrong.is_empty() {
            return Err(Error::Invalid(wrong));
        }
        Ok(cx.store.apps().set_starters(&app, &starters, cx.clock.now(), by).await?)
    }

    /// Deletes an app with its executors, tokens, pauses, maintenance windows and alert rules. Its past runs are not shown any
    /// more; the retention removes them.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`. `InUse`: it has jobs, or runs that have not ended.
    pub async fn delete(&self, id: i64, by: &Actor) -> Result<App, Error> {
        require(by, Action::Administer, Object::Installation, String::new)?;
        let (app, cx) = (self.get(id).await?, &self.engine.cx);
        cx.store.apps().delete(&app, cx.clock.now(), by).await?;
        self.apply().await;
        self.engine.pauses.changed.notify_one();
        Ok(app)
    }

    /// What keeps an app from being deleted.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn used(&self, id: i64) -> Result<AppUse, Error> {
        Ok(self.engine.cx.store.apps().app_use(id).await?)
    }

    /// The name of an app now, of a name that it has or had; asks no database.
    pub fn current_name(&self, name: &str) -> String {
        self.engine.client.tokens.names.current(name).into_owned()
    }

    /// This node knows of the change at once, the others within a second.
    async fn apply(&self) {
        let engine = self.engine;
        match engine.directory.refresh().await {
            Ok(()) => engine.job_cache.invalidate_on_rename(engine.directory.names_version()),
            Err(error) => tracing::warn!(%error, "the changed apps are read within a second"),
        }
    }

    /// # Errors
    /// `Missing`
    pub async fn get(&self, id: i64) -> Result<App, Error> {
        self.engine.cx.store.apps().get(id).await?.ok_or_else(|| Error::missing("app", id))
    }
}

fn check_title(title: &str) -> Result<(), String> {
    match title.chars().count() {
        count if count > TITLE_CHARS => Err(format!("has {count} characters; at most {TITLE_CHARS} are allowed")),
        _ if title.chars().any(char::is_control) => Err("must be one line without control characters".to_owned()),
        _ => Ok(()),
    }
}
