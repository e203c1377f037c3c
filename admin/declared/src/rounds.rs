//! The service that applies declarations: one round after another over the apps.

use std::sync::Arc;
use std::time::Duration;

use carillon_engine::Engine;
use carillon_engine::runtime::{Service, Step};
use carillon_protocol::{self as wire, parse_declaration};
use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::app::declared::declarations::Declaration;
use carillon_store::{App, DeclarationSetting};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::reconciler::{Reconciler, actor};
use crate::settled::{Seen, Settled};

/// How often the jobs are compared.
const EVERY: Duration = Duration::from_secs(10);
/// How often it is noted which declarations are alive.
const NOTE_EVERY_MS: Millis = 600_000;
/// A declaration that no executor announces is kept this time, for a rollback.
const KEPT_MS: Millis = 90 * 86_400_000;

/// Makes and changes jobs as the code says. The node that holds the first shard does it for all.
pub struct Applier {
    engine: Arc<Engine>,
    wake: Arc<Notify>,
    /// When it was noted last which declarations are alive.
    noted_at: Mutex<Millis>,
    settled: Settled,
}

impl Applier {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine, wake: Arc::default(), noted_at: Mutex::default(), settled: Settled::default() }
    }

    /// The next round comes at once.
    pub(crate) fn notify(&self) {
        self.wake.notify_one();
    }

    /// Goes through all apps with declarations; returns the number of jobs that were made or changed.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn round(&self) -> store::Result<usize> {
        if !self.engine.holds_first_shard() {
            self.settled.clear();
            return Ok(0);
        }
        let now = self.engine.cx.clock.now();
        let notes = *self.noted_at.lock() + NOTE_EVERY_MS <= now;
        let mut written = 0;
        for app in self.engine.cx.store.declarations().declaring_apps().await? {
            match self.app(&app, notes, now).await {
                Ok(of_app) => written += of_app,
                Err(error) if error.is_outage() => return Err(error),
                // The other apps are none the worse for it.
                Err(error) => {
                    tracing::warn!(%error, app.name = app.name, "the declared jobs of an app could not be compared")
                }
            }
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
        let Some(first) = live.iter().find(|it| it.problem.is_empty()) else { return Ok(0) };
        if app.declarations == DeclarationSetting::Off {
            return Ok(0);
        }
        let jobs = declarations.jobs_of_app(app.id).await?;
        let seen = Seen::new(app.declarations, &live, &jobs);
        if self.settled.is_settled(app.id, &seen, now) {
            return Ok(0);
        }
        let Some(declaration) = self.read(app, first).await? else { return Ok(0) };
        let address = declarations.announcer(&app.name, &first.digest, now).await?.unwrap_or_default();
        let rows = declarations.jobs_of(app.id).await?;
        let mut reconciler = Reconciler {
            engine: &self.engine,
            app,
            declaration: &declaration,
            may_write: app.declarations == DeclarationSetting::Apply,
            actor: actor(&declaration.build, &address, app),
            now,
            rows: rows.into_iter().map(|row| (row.job_key.clone(), row)).collect(),
            keys: jobs.into_iter().filter_map(|(id, key, _)| Some((key?, id))).collect(),
            allowed: [].into(),
            written: 0,
            is_open: false,
        };
        // While some of the code is refused, nothing is taken for gone.
        let is_complete = reconciler.round().await?;
        if is_complete {
            reconciler.orphans(&live).await?;
        }
        // What was seen is from before: where the round has written, the next one looks again.
        if !reconciler.is_open && reconciler.written == 0 {
            self.settled.note(app.id, seen, is_complete, now);
        }
        Ok(reconciler.written)
    }

    /// The declaration that counts. None: it is gone, or a newer server has stored it.
    async fn read(&self, app: &App, counted: &Declaration) -> store::Result<Option<wire::Declaration>> {
        let text = self.engine.cx.store.declarations().definition(app.id, &counted.digest).await?;
        let Some(text) = text else { return Ok(None) };
        let parsed = parse_declaration(text.as_bytes()).map_err(|error| {
            let build = &counted.build;
            tracing::warn!(error, app.name = app.name, build.name = build, "a stored declaration cannot be read here")
        });
        Ok(parsed.ok())
    }
}

impl Service for Applier {
    const NAME: &'static str = "declarations";
    /// However many heartbeats wake it, there is at most one round a second.
    const LINGER: Duration = Duration::from_secs(1);
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
