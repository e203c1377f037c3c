//! The entry points of declarations.

use std::sync::Arc;

use carillon_engine::manage::limits::rate::RateLimit;
use carillon_engine::runtime::run;
use carillon_engine::{Engine, Error};
use carillon_protocol::parse_declaration;
use carillon_scheduler::hex_digest;
use carillon_store as store;
use carillon_store::app::declared::declarations::Declaration;
use carillon_store::db::sql::text::printable;
use carillon_store::{App, DeclarationSetting};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::announced::{Announced, Finding};
use crate::check::check;
use crate::rounds::Applier;

/// Characters of the name of a build, and of the reason why a declaration was refused.
const BUILD_CHARS: usize = 255;
const PROBLEM_CHARS: usize = 1_000;
/// Declarations of an app that are read each second, and ten times as many at once.
const DECLARATIONS_PER_SECOND: u32 = 1;

/// Declarations of the programs of all apps.
pub struct Declarations {
    pub(crate) engine: Arc<Engine>,
    /// A test steps it.
    pub applier: Arc<Applier>,
    announced: Announced,
    /// The declarations of each app, by its id.
    rates: RateLimit<i64>,
}

impl Declarations {
    pub fn new(engine: Arc<Engine>) -> Self {
        let applier = Arc::new(Applier::new(engine.clone()));
        Self { engine, applier, announced: Announced::default(), rates: RateLimit::new(DECLARATIONS_PER_SECOND) }
    }

    /// Starts the service.
    pub fn run(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
        run(&self.applier, &self.engine.cx.tasks, tasks, stop, fatal);
    }

    /// The next round comes at once, if this node does the rounds.
    pub fn wake(&self) {
        self.applier.notify();
    }

    /// A heartbeat that is stored. `is_new`: its executor was not there. True: it is asked for the declaration with this digest.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn heartbeat(&self, app: &str, address: &str, digest: Option<&str>, is_new: bool) -> store::Result<bool> {
        let Some(digest) = digest else { return Ok(false) };
        let declarations = self.engine.cx.store.declarations();
        if self.announced.is_other(app, address, digest, is_new) {
            // If it cannot be written now, the next heartbeat writes it.
            self.announced.forget_noted(app, address);
            declarations.announce(app, address, digest).await?;
            self.announced.set_noted(app, address, digest);
            self.wake();
        }
        let now = self.engine.cx.clock.now();
        if !self.announced.claim(app, digest, now) {
            return Ok(false);
        }
        let finding = match self.engine.cx.store.apps().by_name(app).await? {
            None => Finding::Refused,
            Some(app) if app.declarations == DeclarationSetting::Off => Finding::Refused,
            Some(app) if declarations.is_known(app.id, digest).await? => Finding::Known,
            Some(_) => Finding::Asked,
        };
        self.announced.note(app, digest, finding, now);
        Ok(finding == Finding::Asked)
    }

    /// Stores what an executor of the app declares, also if it is refused, with the reason. The next round applies it.
    ///
    /// # Errors
    /// A text for the executor: what is wrong with it.
    pub async fn declare(&self, app: &str, body: &[u8]) -> Result<(), String> {
        let cx = &self.engine.cx;
        let found = cx.store.apps().by_name(app).await.map_err(|error| unstored(app, &error))?;
        let found = found.ok_or_else(|| format!("there is no app {app}"))?;
        if found.declarations == DeclarationSetting::Off {
            return Err(format!("the app {app} takes no declarations; its setting is off"));
        }
        self.rates.take(found.id, cx.clock.monotonic()).map_err(|seconds| {
            format!(
                "the app {app} has more than {DECLARATIONS_PER_SECOND} declaration a second; try again in {seconds} s"
            )
        })?;
        let (now, digest) = (cx.clock.now(), digest(body));
        let read = parse_declaration(body).and_then(|declaration| check(&declaration).map(|()| declaration.build));
        let (build, problem) = match read {
            Ok(build) => (build, String::new()),
            Err(problem) => (build_of(body), printable(&problem)),
        };
        let declaration = Declaration {
            digest: digest.clone(),
            build: build.chars().take(BUILD_CHARS).collect(),
            first_seen_at: now,
            problem: problem.chars().take(PROBLEM_CHARS).collect(),
        };
        let body = if problem.is_empty() { String::from_utf8_lossy(body) } else { "".into() };
        match cx.store.declarations().add(&found, &declaration, &body).await {
            Ok(()) => {}
            Err(store::Error::Refused(error)) => return Err(error.to_string()),
            Err(error) => return Err(unstored(app, &error)),
        }
        if !problem.is_empty() {
            tracing::warn!(
                app.name = app,
                build.name = declaration.build,
                reason = problem,
                "a declaration was refused"
            );
            self.announced.note(app, &digest, Finding::Faulty, now);
            return Err(problem);
        }
        tracing::info!(app.name = app, build.name = declaration.build, "a program declares jobs");
        self.announced.note(app, &digest, Finding::Known, now);
        self.wake();
        Ok(())
    }

    /// Sets what becomes of the app's declarations, at once.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`
    pub async fn set(&self, app_id: i64, setting: DeclarationSetting, by: &store::Actor) -> Result<App, Error> {
        let cx = &self.engine.cx;
        let administer = carillon_accounts::policy::Action::Administer;
        let object = carillon_accounts::policy::Object::App(app_id);
        carillon_engine::manage::require(by, administer, object, || format!("app {app_id}"))?;
        let app = cx.store.declarations().set(app_id, setting, cx.clock.now(), by).await?;
        self.wake();
        Ok(app)
    }
}

/// The digest that names a declaration.
pub fn digest(body: &[u8]) -> String {
    hex_digest(body)
}

fn unstored(app: &str, error: &store::Error) -> String {
    tracing::warn!(%error, app.name = app, "a declaration could not be stored");
    "the declaration could not be stored; it is asked for again".to_owned()
}

/// The build that a declaration names, as far as it can be read.
fn build_of(body: &[u8]) -> String {
    let read: Value = serde_json::from_slice(body).unwrap_or_default();
    read["build"].as_str().unwrap_or_default().chars().filter(|c| !c.is_control()).collect()
}
