//! The end of an app that has no jobs and no open runs.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::{ConnectionTrait, DbBackend};
use serde_json::json;

use crate::app::apps::App;
use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::error::{Error, Result};
use crate::views::AppStore;

/// What keeps an app from being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppUse {
    pub jobs: i64,
    /// Runs that have not ended.
    pub open_runs: i64,
}

impl AppUse {
    pub const fn is_none(&self) -> bool {
        self.jobs == 0 && self.open_runs == 0
    }
}

impl AppStore<'_> {
    pub async fn app_use(self, app_id: i64) -> Result<AppUse> {
        self.app_use_in(&self.read, app_id).await
    }

    async fn app_use_in(self, db: &impl ConnectionTrait, app_id: i64) -> Result<AppUse> {
        let jobs: Option<i64> = self.tuple(db, "SELECT COUNT(*) FROM job WHERE app_id = ?", values![app_id]).await?;
        // By shard: the index of open runs begins with it.
        let text = "SELECT COUNT(*) FROM shard_lease JOIN run ON run.shard = shard_lease.shard AND run.state < {state.final} \
                    WHERE run.app_id = ?";
        let open_runs: Option<i64> = self.tuple(db, text, values![app_id]).await?;
        Ok(AppUse { jobs: jobs.unwrap_or(0), open_runs: open_runs.unwrap_or(0) })
    }

    /// Deletes an app with its executors, tokens, secrets, limits, declarations, pauses, maintenance windows, alert rules, retention and former
    /// names. The audit stays; its past runs are not shown any more, and the retention removes them.
    ///
    /// # Errors
    /// `Missing`. `InUse`: it has jobs or open runs; the text says how many.
    pub async fn delete(self, app: &App, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        self.lock_app(&tx, app).await?;
        let used = self.app_use_in(&tx, app.id).await?;
        if !used.is_none() {
            let AppUse { jobs, open_runs } = used;
            let text = format!("app {} has {jobs} jobs and {open_runs} runs that have not ended", app.name);
            return Err(Error::InUse(text));
        }
        let text = "DELETE FROM limit_slot WHERE limit_id IN (SELECT id FROM limit_rule WHERE app_id = ?)";
        self.execute(&tx, text, values![app.id]).await?;
        self.alerts().end_alerts(&tx, "IN (SELECT id FROM alert_rule WHERE app_id = ?)", app.id, now).await?;
        for table in ["executor", "executor_setting"] {
            self.execute(&tx, &format!("DELETE FROM {table} WHERE app = ?"), values![app.name.as_str()]).await?;
        }
        for table in [
            "executor_token",
            "app_pause",
            "maintenance_window",
            "alert_rule",
            "app_alias",
            "secret",
            "limit_rule",
            "declaration",
            "declared_job",
        ] {
            self.execute(&tx, &format!("DELETE FROM {table} WHERE app_id = ?"), values![app.id]).await?;
        }
        self.execute(&tx, "DELETE FROM app_starter WHERE app_id = ? OR starter_id = ?", values![app.id, app.id])
            .await?;
        self.execute(&tx, "DELETE FROM retention WHERE scope = 'app' AND scope_id = ?", values![app.id]).await?;
        self.execute(&tx, "DELETE FROM app WHERE id = ?", values![app.id]).await?;
        let detail = json!({"before": {"name": app.name, "title": app.title}});
        audit.commit(tx, AuditAction::Delete, AuditObject::app(app.id), detail).await
    }

    /// Keeps an app from being deleted until the transaction ends: a job that is being made needs it.
    ///
    /// # Errors
    /// `Missing`: it has been deleted since the caller looked.
    pub(crate) async fn hold_app(self, tx: &impl ConnectionTrait, id: i64) -> Result<()> {
        let text = match self.backend {
            DbBackend::Postgres => "SELECT id FROM app WHERE id = ? FOR SHARE",
            DbBackend::MySql => "SELECT id FROM app WHERE id = ? LOCK IN SHARE MODE",
            _ => "SELECT id FROM app WHERE id = ?",
        };
        let found: Option<i64> = self.tuple(tx, text, values![id]).await?;
        found.map(drop).ok_or_else(|| Error::Missing(format!("app {id}")))
    }
}
