use foldhash::HashMap;

use carillon_accounts::policy::{Action, Object};
use carillon_scheduler::route::{LabelError, check_weight};
use carillon_scheduler::{FieldError, Labels};
use carillon_store as store;
use carillon_store::app::executors::{Executor, ExecutorSettings};
use carillon_store::{Actor, App};

use crate::manage::authorize::require;
use crate::manage::entry_points::Executors;
use crate::manage::error::Error;
use carillon_protocol::normal_address;

/// Why an executor may not register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAdmitted {
    /// What is wrong with its address.
    Address(String),
    /// The limit that is reached.
    TooMany(String),
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
        let others =
            engine.cx.store.apps().live_executors_beside(app, address, engine.cx.clock.now()).await.unwrap_or(0);
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
        let changed = engine.cx.store.apps().register_executor(executor).await.inspect_err(|error| {
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

    /// Removes a registration: nothing is routed to it any more. Where the executor names its start, a later one stays.
    ///
    /// # Errors
    /// The database could not be written.
    pub async fn deregister(&self, app: &str, address: &str, boot_id: Option<&str>) -> store::Result<()> {
        let store = &self.engine.cx.store;
        match boot_id {
            Some(boot_id) => store.apps().deregister_start(app, address, boot_id).await?,
            None => store.apps().deregister_executor(app, address).await?,
        };
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
        let address = &normal_address(address);
        let settings = Self::check(weight, labels)?;
        let app = engine.apps().get(app_id).await?;
        self.find(&app, address).await?;
        engine.cx.store.apps().set_executor_settings(&app, address, &settings, engine.cx.clock.now(), by).await?;
        engine.directory.changed.notify_one();
        self.find(&app, address).await
    }

    /// Whether an executor gets no new runs; what it has ends there. It lasts until it is undone, also when the executor registers
    /// again, and all nodes know it within two seconds.
    ///
    /// # Errors
    /// `Forbidden`. `Missing`: the app. `Invalid`: the address
    pub async fn set_draining(
        &self,
        app_id: i64,
        address: &str,
        is_draining: bool,
        by: &Actor,
    ) -> Result<Executor, Error> {
        let engine = self.engine;
        require(by, Action::Operate, Object::App(app_id), || format!("app {app_id}"))?;
        let address = &normal_address(address);
        let app = engine.apps().get(app_id).await?;
        self.find(&app, address).await?;
        engine.cx.store.apps().set_executor_draining(&app, address, is_draining, engine.cx.clock.now(), by).await?;
        engine.directory.changed.notify_one();
        self.find(&app, address).await
    }

    /// Enters the address of an executor that need not register: it counts as live until it is removed. Only for administrators
    /// of all apps: requests to it may carry the token of all apps, and nothing shows that the address has it already.
    ///
    /// # Errors
    /// `Forbidden`. `Missing`: the app. `Invalid`: the address. `InUse`: it was entered already, or the app has too many.
    pub async fn enter(&self, app_id: i64, address: &str, by: &Actor) -> Result<Executor, Error> {
        let engine = self.engine;
        require(by, Action::Administer, Object::Installation, String::new)?;
        let address = &normal_address(address);
        let app = engine.apps().get(app_id).await?;
        let wrong = |what| {
            Error::field("address", format!("{what}; it must be http(s)://host:port, with at most a plain path"))
        };
        engine.client.admit(address).await.map_err(wrong)?;
        let most = engine.cx.settings.limits.app_executors;
        engine.cx.store.apps().enter_executor(&app, address, most, engine.cx.clock.now(), by).await?;
        engine.directory.changed.notify_one();
        self.find(&app, address).await
    }

    /// Removes an executor, with what is set for it. Its runs are looked after as those of one that has deregistered. An executor
    /// that goes on sending heartbeats is there again with the next one.
    ///
    /// # Errors
    /// `Forbidden`. `Missing`: the app. `Invalid`: the address
    pub async fn remove(&self, app_id: i64, address: &str, by: &Actor) -> Result<(), Error> {
        let engine = self.engine;
        require(by, Action::Administer, Object::App(app_id), || format!("app {app_id}"))?;
        let address = &normal_address(address);
        let app = engine.apps().get(app_id).await?;
        if !engine.cx.store.apps().remove_executor(&app, address, engine.cx.clock.now(), by).await? {
            return Err(not_registered(&app, address));
        }
        engine.directory.changed.notify_one();
        Ok(())
    }

    /// Runs that may be under way at each address: marked or accepted, and not ended.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn open_runs(&self) -> Result<HashMap<String, i64>, Error> {
        let engine = self.engine;
        Ok(engine.cx.store.runs().active_runs_by_address(engine.held.total()).await?.into_iter().collect())
    }

    async fn find(&self, app: &App, address: &str) -> Result<Executor, Error> {
        let executors = self.engine.cx.store.apps().executors_of(&app.name).await?;
        let found = executors.into_iter().find(|executor| executor.address == address);
        found.ok_or_else(|| not_registered(app, address))
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

fn not_registered(app: &App, address: &str) -> Error {
    Error::field("address", format!("no executor of app {} has registered {address}", app.name))
}
