//! Which other apps an app lets start its jobs, as children of theirs. Empty at first: a job of another app starts none.

use std::collections::BTreeSet;

use carillon_scheduler::{AuditAction, Millis};
use foldhash::HashSet;
use sea_orm::ConnectionTrait;
use serde_json::json;

use crate::app::apps::App;
use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::views::AppStore;

impl AppStore<'_> {
    /// Id and name of the apps whose jobs may start jobs of this app, by name.
    pub async fn starters(self, app_id: i64) -> Result<Vec<(i64, String)>> {
        let text = "SELECT a.id, a.name FROM app_starter s JOIN app a ON a.id = s.starter_id WHERE s.app_id = ? ORDER BY a.name";
        self.tuples(&self.read, text, values![app_id]).await
    }

    /// Pairs of these apps and those whose jobs may start theirs, by name.
    pub async fn starters_of(self, app_ids: &[i64]) -> Result<HashSet<(i64, String)>> {
        if app_ids.is_empty() {
            return Ok(HashSet::default());
        }
        let text =
            "SELECT s.app_id, a.name FROM app_starter s JOIN app a ON a.id = s.starter_id WHERE s.app_id IN ({ids})";
        Ok(self.tuples(&self.read, text, values![self.ids(app_ids)]).await?.into_iter().collect())
    }

    /// Sets the apps whose jobs may start jobs of this app.
    ///
    /// # Errors
    /// `Missing`: the app.
    pub async fn set_starters(self, app: &App, starters: &[App], now: Millis, actor: &Actor) -> Result<()> {
        let before: Vec<String> = self.starters(app.id).await?.into_iter().map(|(_, name)| name).collect();
        let after: BTreeSet<&str> = starters.iter().map(|starter| starter.name.as_str()).collect();
        if before.iter().map(String::as_str).eq(after.iter().copied()) {
            return Ok(());
        }
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        self.lock_app(&tx, app).await?;
        self.execute(&tx, "DELETE FROM app_starter WHERE app_id = ?", values![app.id]).await?;
        let ids: BTreeSet<i64> = starters.iter().map(|starter| starter.id).collect();
        let rows = ids.into_iter().map(|starter| values![app.id, starter]).collect();
        self.insert_rows(&tx, "app_starter", "app_id, starter_id", rows).await?;
        let detail = json!({"before": {"started_by": before}, "after": {"started_by": after}});
        audit.commit(tx, AuditAction::Update, AuditObject::app(app.id), detail).await
    }

    /// The children that a job may start now: they are of its app, or their app lets its app start them.
    pub(crate) async fn startable_children(
        self,
        tx: &Transaction,
        job_id: i64,
        children: &[i64],
    ) -> Result<HashSet<i64>> {
        if children.is_empty() {
            return Ok(HashSet::default());
        }
        let text = "SELECT c.id FROM job c JOIN job p ON p.id = ? WHERE c.id IN ({ids}) AND (c.app_id = p.app_id \
                    OR EXISTS (SELECT 1 FROM app_starter s WHERE s.app_id = c.app_id AND s.starter_id = p.app_id))";
        Ok(self.tuples(tx, text, values![job_id, self.ids(children)]).await?.into_iter().collect())
    }

    /// The jobs among these that an app may start: its own, and those of apps that let it.
    pub(crate) async fn startable_by(
        self,
        db: &impl ConnectionTrait,
        app_id: i64,
        jobs: &[i64],
    ) -> Result<HashSet<i64>> {
        if jobs.is_empty() {
            return Ok(HashSet::default());
        }
        let text = "SELECT job.id FROM job WHERE job.id IN ({ids}) AND (job.app_id = ? OR EXISTS \
                    (SELECT 1 FROM app_starter s WHERE s.app_id = job.app_id AND s.starter_id = ?))";
        Ok(self.tuples(db, text, values![self.ids(jobs), app_id, app_id]).await?.into_iter().collect())
    }
}
