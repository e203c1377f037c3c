use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::route::{LabelError, check_weight};
use carillon_scheduler::{FieldError, Labels};
use carillon_store as store;
use carillon_store::Actor;
use carillon_store::app::executors::{Executor, ExecutorSettings};

use crate::engine::Engine;
use crate::manage::authorize::require;
use crate::manage::error::Error;

/// Why an executor may not register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAdmitted {
    /// What is wrong with its address.
    Address(String),
    /// The limit that is reached.
    TooMany(String),
}

/// Registrations of executors, and what operators set for them.
pub struct Executors<'a> {
    pub(super) engine: &'a Engine,
}

impl Executors<'_> {
    /// Whether an executor may have this address. One that is registered was checked then, and is checked again with each
    /// connection.
    ///
    /// # Errors
    /// What is wrong with it, or that the app has as many as it may have.
    pub async fn admit(&self, app: &str, address: &str) -> Result<(), NotAdmitted> {
        let engine = self.engine;
        if engine.directory.registered(app, address).is_ok() {
            return Ok(());
        }
        let most = engine.cx.settings.limits.app_executors;
        // Without an answer of the database the registration itself fails, and counts as one that came.
        let others = engine.cx.store.live_executors_beside(app, address, engine.cx.clock.now()).await.unwrap_or(0);
        if others >= i64::from(most) {
            let whose = format!("app {app} (or the names that no app has, together)");
            return Err(NotAdmitted::TooMany(format!("{whose} has {most} live executors already (--app-executors)")));
        }
        engine.client.admit(address).await.map_err(NotAdmitted::Address)
    }

    /// Stores a registration, new or repeated. Whether it was new: then routes use it at once, and runs that an earlier process
    /// at this address had are looked for.
    ///
    /// # Errors
    /// The registration could not be stored.
    pub async fn heartbeat(&self, executor: &Executor) -> store::Result<bool> {
        let engine = self.engine;
        let changed = engine.cx.store.register_executor(executor).await.inspect_err(|error| {
            if !error.is_bad_value() {
                engine.directory.note_lost_heartbeat();
            }
        })?;
        if changed {
            engine.directory.changed.notify_one();
            if let Some(boot_id) = &executor.boot_id {
                engine.services.monitor.executor_restarted(executor.address.clone(), boot_id.clone());
            }
        }
        Ok(changed)
    }

    /// Removes a registration: nothing is routed to it any more.
    ///
    /// # Errors
    /// The database could not be written.
    pub async fn deregister(&self, app: &str, address: &str) -> store::Result<()> {
        self.engine.cx.store.deregister_executor(app, address).await?;
        self.engine.directory.changed.notify_one();
        Ok(())
    }

    /// Sets the weight and the labels of an executor that has registered for the app; `None` leaves one to the executor.
    ///
    /// # Errors
    /// `Forbidden`. `Missing`: the app. `Invalid`: the address, the weight or the labels.
    pub async fn set(
        &self,
        app_id: i64,
        address: &str,
        weight: Option<i64>,
        labels: Option<&str>,
        by: &Actor,
    ) -> Result<Executor, Error> {
        let engine = self.engine;
        require(by, Action::Administer, Object::App(app_id), || format!("app {app_id}"))?;
        let settings = Self::check(weight, labels)?;
        let app = engine.apps().get(app_id).await?;
        let find = async || {
            let executors = engine.cx.store.executors_of(&app.name).await?;
            let found = executors.into_iter().find(|executor| executor.address == address);
            let text = || format!("no executor of app {} has registered {address}", app.name);
            found.ok_or_else(|| Error::field("address", text()))
        };
        find().await?;
        engine.cx.store.set_executor_settings(&app, address, &settings, engine.cx.clock.now(), by).await?;
        engine.directory.changed.notify_one();
        find().await
    }

    /// The settings, if they are allowed.
    ///
    /// # Errors
    /// `Invalid`
    pub fn check(weight: Option<i64>, labels: Option<&str>) -> Result<ExecutorSettings, Error> {
        let weight = weight.map(check_weight).transpose().map_err(|message| FieldError::new("weight", message));
        let labels = labels.map(str::parse::<Labels>).transpose();
        let labels = labels.map_err(|error: LabelError| FieldError::new("labels", error.to_string()));
        match (weight, labels) {
            (Ok(weight), Ok(labels)) => Ok(ExecutorSettings {
                weight: weight.map(u32::cast_signed),
                labels: labels.map(|labels| labels.to_string()),
            }),
            (weight, labels) => Err(Error::Invalid(weight.err().into_iter().chain(labels.err()).collect())),
        }
    }
}
