//! The declarations of builds, each by its digest.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::{ConnectionTrait, FromQueryResult};
use serde_json::json;

use crate::app::apps::{App, COLUMNS};
use crate::app::declared::words::DeclarationSetting;
use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::error::{Error, Result};
use crate::views::DeclarationStore;

/// Declarations of an app that are kept: those that live executors announce, and the newest of the others.
pub const MOST_KEPT: usize = 20;

/// What a build declares, without its jobs.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct Declaration {
    pub digest: String,
    pub build: String,
    pub first_seen_at: Millis,
    /// Why it was refused as a whole; empty: it was not.
    pub problem: String,
}

impl DeclarationStore<'_> {
    /// Whether the app has a declaration with this digest that was not refused.
    pub async fn is_known(self, app_id: i64, digest: &str) -> Result<bool> {
        let text = "SELECT COUNT(*) FROM declaration WHERE app_id = ? AND digest = ? AND problem = ''";
        let count: Option<i64> = self.tuple(&self.engine_reads, text, values![app_id, digest]).await?;
        Ok(count.is_some_and(|count| count > 0))
    }

    /// Keeps a declaration and what it defines. One that is there already stays, unless it was refused. The oldest that no executor
    /// announces make room for it.
    ///
    /// # Errors
    /// `Missing`: the app. `Refused`: live executors announce as many as are kept.
    pub async fn add(self, app: &App, declaration: &Declaration, definition: &str) -> Result<()> {
        let Declaration { digest, build, first_seen_at, problem } = declaration.clone();
        let tx = self.begin_change().await?;
        self.apps().hold_app(&tx, app.id).await?;
        let text = "SELECT problem FROM declaration WHERE app_id = ? AND digest = ?";
        let known: Option<String> = self.tuple(&tx, text, values![app.id, digest.as_str()]).await?;
        match known {
            Some(known) if known.is_empty() || known == problem => return Ok(()),
            Some(_) => {
                let text = "UPDATE declaration SET build = ?, last_seen_at = ?, definition = ?, problem = ? \
                            WHERE app_id = ? AND digest = ?";
                let values = values![build, first_seen_at, definition, problem, app.id, digest];
                self.execute(&tx, text, values).await?;
            }
            None => {
                self.make_room(&tx, app, first_seen_at).await?;
                let app_id = app.id;
                let row =
                    named![app_id, digest, build, first_seen_at, last_seen_at: first_seen_at, definition, problem];
                match self.insert_row(&tx, "declaration", row).await {
                    // Another executor of the build was faster.
                    Err(error) if error.is_unique_violation() => return Ok(()),
                    other => other?,
                };
            }
        }
        Ok(tx.commit().await?)
    }

    async fn make_room(self, tx: &impl ConnectionTrait, app: &App, now: Millis) -> Result<()> {
        let text = "SELECT digest FROM declaration WHERE app_id = ? ORDER BY last_seen_at, first_seen_at, digest";
        let kept: Vec<String> = self.tuples(tx, text, values![app.id]).await?;
        let text = "SELECT DISTINCT declared FROM executor WHERE app = ? AND expires_at > ? AND declared IS NOT NULL";
        let live: Vec<String> = self.tuples(tx, text, values![app.name.as_str(), now]).await?;
        let too_many = (kept.len() + 1).saturating_sub(MOST_KEPT);
        let spare: Vec<String> = kept.into_iter().filter(|it| !live.contains(it)).take(too_many).collect();
        if spare.len() < too_many {
            let why = format!("live executors of the app {} announce {MOST_KEPT} of them; no more are kept", app.name);
            let refused = Error::refused("declaration", why);
            return Err(refused);
        }
        for digest in spare {
            let text = "DELETE FROM declaration WHERE app_id = ? AND digest = ?";
            self.execute(tx, text, values![app.id, digest]).await?;
        }
        Ok(())
    }

    /// What a declaration defines, as it was sent. None: it is not kept any more.
    pub async fn definition(self, app_id: i64, digest: &str) -> Result<Option<String>> {
        let text = "SELECT definition FROM declaration WHERE app_id = ? AND digest = ?";
        self.tuple(&self.read, text, values![app_id, digest]).await
    }

    /// Notes which declaration an executor announces, until it starts again.
    pub async fn announce(self, app: &str, address: &str, digest: &str) -> Result<()> {
        let text = "UPDATE executor SET declared = ? WHERE app = ? AND address = ?";
        self.execute(&self.changes, text, values![digest, app, address]).await.map(drop)
    }

    /// The declarations that live executors of the app announce. The first one that was not refused counts: it is the one that was seen
    /// last for the first time. So a deployment takes effect once, with its first executor, and a rollback when the last executor of the newer build is gone.
    pub async fn live(self, app: &App, now: Millis) -> Result<Vec<Declaration>> {
        let text = "SELECT d.digest, d.build, d.first_seen_at, d.problem FROM declaration d WHERE d.app_id = ? \
                    AND d.digest IN (SELECT e.declared FROM executor e WHERE e.app = ? AND e.expires_at > ?) \
                    ORDER BY d.first_seen_at DESC, d.digest DESC";
        self.all(&self.read, text, values![app.id, app.name.as_str(), now]).await
    }

    /// The address of a live executor that announces this declaration.
    pub async fn announcer(self, app: &str, digest: &str, now: Millis) -> Result<Option<String>> {
        let text =
            "SELECT address FROM executor WHERE app = ? AND declared = ? AND expires_at > ? ORDER BY address LIMIT 1";
        self.tuple(&self.read, text, values![app, digest, now]).await
    }

    /// The apps that have declarations.
    pub async fn declaring_apps(self) -> Result<Vec<App>> {
        let text = format!("SELECT {COLUMNS} FROM app WHERE id IN (SELECT app_id FROM declaration) ORDER BY id");
        self.all(&self.engine_reads, &text, vec![]).await
    }

    /// Notes that these declarations are announced, and forgets those of the app that were last announced `before`.
    pub async fn note_live(self, app_id: i64, live: &[Declaration], before: Millis, now: Millis) -> Result<()> {
        for declaration in live {
            let text = "UPDATE declaration SET last_seen_at = ? WHERE app_id = ? AND digest = ?";
            self.execute(&self.write, text, values![now, app_id, declaration.digest.as_str()]).await?;
        }
        let text = "DELETE FROM declaration WHERE app_id = ? AND last_seen_at < ?";
        self.execute(&self.write, text, values![app_id, before]).await.map(drop)
    }

    /// Sets what becomes of the app's declarations.
    ///
    /// # Errors
    /// `Missing`
    pub async fn set(self, app_id: i64, setting: DeclarationSetting, now: Millis, actor: &Actor) -> Result<App> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = format!("SELECT {COLUMNS} FROM app WHERE id = ?{{for_update}}");
        let old: Option<App> = self.one(&tx, &text, values![app_id]).await?;
        let old = old.ok_or_else(|| Error::Missing(format!("app {app_id}")))?;
        if old.declarations == setting {
            return Ok(old);
        }
        let text = "UPDATE app SET declarations = ? WHERE id = ?";
        self.execute(&tx, text, values![setting.as_str(), app_id]).await?;
        let (before, after) = (old.declarations.as_str(), setting.as_str());
        let detail = json!({"before": {"declarations": before}, "after": {"declarations": after}});
        audit.commit(tx, AuditAction::Update, AuditObject::app(app_id), detail).await?;
        Ok(App { declarations: setting, ..old })
    }
}
