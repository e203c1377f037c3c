//! The entry points of declarations, and the service that applies them.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::runtime::{Service, Step, run};
use carillon_engine::{Engine, Error};
use carillon_protocol::{self as wire, parse_declaration};
use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::app::declared::declarations::Declaration;
use carillon_store::{App, DeclarationSetting};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::announced::{Announced, Finding};
use crate::code::forbidden_member;
use crate::reconciler::{Reconciler, actor};

/// How often the jobs are compared.
const EVERY: Duration = Duration::from_secs(10);
/// How often it is noted which declarations are alive.
const NOTE_EVERY_MS: Millis = 600_000;
/// A declaration that no executor announces is kept this time, for a rollback.
const KEPT_MS: Millis = 90 * 86_400_000;
/// Jobs of one declaration.
const MOST_JOBS: usize = 1_000;
/// Characters of the name of a build.
const BUILD_CHARS: usize = 255;

/// Declarations of the programs of all apps.
pub struct Declarations {
    pub(crate) engine: Arc<Engine>,
    /// A test steps it.
    pub applier: Arc<Applier>,
    announced: Announced,
}

/// Makes and changes jobs as the code says. The node that holds the first shard does it for all.
pub struct Applier {
    engine: Arc<Engine>,
    wake: Arc<Notify>,
    /// When it was noted last which declarations are alive.
    noted_at: Mutex<Millis>,
}

impl Declarations {
    pub fn new(engine: Arc<Engine>) -> Self {
        let (wake, noted_at) = (Arc::default(), Mutex::default());
        let applier = Arc::new(Applier { engine: engine.clone(), wake, noted_at });
        Self { engine, applier, announced: Announced::default() }
    }

    /// Starts the service.
    pub fn run(&self, tasks: &TaskTracker, stop: &CancellationToken, fatal: &CancellationToken) {
        run(&self.applier, &self.engine.cx.tasks, tasks, stop, fatal);
    }

    /// The next round comes at once, if this node does the rounds.
    pub fn wake(&self) {
        self.applier.wake.notify_one();
    }

    /// A heartbeat that is stored. `is_new`: its executor was not there. True: it is asked for the declaration with this digest.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn heartbeat(&self, app: &str, address: &str, digest: Option<&str>, is_new: bool) -> store::Result<bool> {
        let Some(digest) = digest else { return Ok(false) };
        let declarations = self.engine.cx.store.declarations();
        if self.announced.is_other(app, address, digest, is_new) {
            declarations.announce(app, address, digest).await?;
            self.announced.set_noted(app, address, digest);
            self.wake();
        }
        let now = self.engine.cx.clock.now();
        if !self.announced.is_due(app, digest, now) {
            return Ok(false);
        }
        let finding = match self.engine.cx.store.apps().by_name(app).await? {
            None => Finding::Refused,
            Some(app) if app.declarations == DeclarationSetting::Off => Finding::Refused,
            Some(app) if declarations.is_known(app.id, digest).await? => Finding::Known,
            Some(_) => Finding::Asked,
        };
        Ok(self.announced.note(app, digest, finding, now) && finding == Finding::Asked)
    }

    /// Stores what an executor of the app declares. The next round applies it.
    ///
    /// # Errors
    /// A text for the executor: what is wrong with it.
    pub async fn declare(&self, app: &str, body: &[u8]) -> Result<(), String> {
        let declaration = parse_declaration(body)?;
        check(&declaration)?;
        let unstored = |error: store::Error| {
            tracing::warn!(%error, app.name = app, "a declaration could not be stored");
            "the declaration could not be stored; it is asked for again".to_owned()
        };
        let found = self.engine.cx.store.apps().by_name(app).await.map_err(unstored)?;
        let found = found.ok_or_else(|| format!("there is no app {app}"))?;
        if found.declarations == DeclarationSetting::Off {
            return Err(format!("the app {app} takes no declarations; its setting is off"));
        }
        let (now, digest) = (self.engine.cx.clock.now(), digest(body));
        let declaration = Declaration {
            digest: digest.clone(),
            build: declaration.build.chars().take(BUILD_CHARS).collect(),
            first_seen_at: now,
            definition: String::from_utf8_lossy(body).into_owned(),
        };
        self.engine.cx.store.declarations().add(found.id, &declaration).await.map_err(unstored)?;
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
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(declaration: &wire::Declaration) -> Result<(), String> {
    if declaration.jobs.len() > MOST_JOBS {
        return Err(format!("{} jobs are declared; at most {MOST_JOBS} are allowed", declaration.jobs.len()));
    }
    if declaration.build.chars().any(char::is_control) {
        return Err("the name of the build has control characters".to_owned());
    }
    for (index, job) in declaration.jobs.iter().enumerate() {
        let wrong = |problem: String| Err(format!("job {:.64}: {problem}", job.key));
        if job.key.is_empty() {
            return Err(format!("job number {} has no key", index + 1));
        }
        if let Err(problem) = carillon_scheduler::check_key(&job.key) {
            return wrong(format!("key {problem}"));
        }
        if let Some(Err(problem)) = job.was.as_deref().map(carillon_scheduler::check_key) {
            return wrong(format!("was {problem}"));
        }
        if job.file.chars().any(char::is_control) {
            return wrong("the name of its source file has control characters".to_owned());
        }
        if declaration.jobs[..index].iter().any(|other| other.key == job.key) {
            return wrong("is declared twice".to_owned());
        }
        if let Some(member) = forbidden_member(job) {
            return wrong(format!("`{member:.64}` cannot be declared"));
        }
    }
    Ok(())
}

impl Applier {
    /// Goes through all apps with declarations; returns the number of jobs that were made or changed.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn round(&self) -> store::Result<usize> {
        if !self.engine.holds_first_shard() {
            return Ok(0);
        }
        let now = self.engine.cx.clock.now();
        let notes = *self.noted_at.lock() + NOTE_EVERY_MS <= now;
        let mut written = 0;
        for app in self.engine.cx.store.declarations().declaring_apps().await? {
            written += self.app(&app, notes, now).await?;
        }
        if notes {
            *self.noted_at.lock() = now;
        }
        Ok(written)
    }

    async fn app(&self, app: &App, notes: bool, now: Millis) -> store::Result<usize> {
        let declarations = self.engine.cx.store.declarations();
        let live = declarations.live(app, now).await?;
        if notes {
            declarations.note_live(app.id, &live, now - KEPT_MS, now).await?;
        }
        let parsed: Vec<wire::Declaration> =
            live.iter().filter_map(|it| parse_declaration(it.definition.as_bytes()).ok()).collect();
        let (Some(first), Some(declaration)) = (live.first(), parsed.first()) else { return Ok(0) };
        if app.declarations == DeclarationSetting::Off || parsed.len() != live.len() {
            return Ok(0);
        }
        let address = declarations.announcer(&app.name, &first.digest, now).await?.unwrap_or_default();
        let rows = declarations.jobs_of(app.id).await?;
        let mut reconciler = Reconciler {
            engine: &self.engine,
            app,
            declaration,
            may_write: app.declarations == DeclarationSetting::Apply,
            actor: actor(&declaration.build, &address, app),
            now,
            rows: rows.into_iter().map(|row| (row.job_key.clone(), row)).collect(),
            written: 0,
        };
        // While some of the code is refused, nothing is taken for gone.
        if reconciler.round().await? {
            reconciler.orphans(&parsed).await?;
        }
        Ok(reconciler.written)
    }
}

impl Service for Applier {
    const NAME: &'static str = "declarations";
    /// Jobs that were made or changed.
    type Report = usize;

    async fn step(&self) -> Step<usize> {
        let did = self.round().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "declared jobs could not be compared; the next round goes on");
            0
        });
        Step { did, next: EVERY }
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.wake.clone())
    }
}
