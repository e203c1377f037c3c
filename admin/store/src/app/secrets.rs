//! Secrets of apps, which the requests of HTTP jobs and the parameters of other jobs name. The database keeps them encrypted, the audit their names alone.

use carillon_scheduler::{AuditAction, Millis};
use sea_orm::FromQueryResult;
use serde_json::json;

use crate::app::apps::App;
use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::error::{Error, Result};
use crate::views::AppStore;

/// Secrets of one app.
pub const MAX_SECRETS: usize = 100;

/// A secret as people see it.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct SecretName {
    pub name: String,
    pub updated_at: Millis,
}

impl AppStore<'_> {
    /// The names of an app's secrets, in the order of the alphabet.
    pub async fn secret_names(self, app_id: i64) -> Result<Vec<SecretName>> {
        let text = "SELECT name, updated_at FROM secret WHERE app_id = ? ORDER BY name";
        self.all(&self.read, text, values![app_id]).await
    }

    /// Whether any app has a secret.
    pub async fn has_secrets(self) -> Result<bool> {
        let found: Option<i64> = self.tuple(&self.engine_reads, "SELECT app_id FROM secret LIMIT 1", vec![]).await?;
        Ok(found.is_some())
    }

    /// The secrets of an app by name, encrypted.
    pub async fn sealed_secrets(self, app_id: i64) -> Result<Vec<(String, String)>> {
        let text = "SELECT name, value FROM secret WHERE app_id = ?";
        self.tuples(&self.engine_reads, text, values![app_id]).await
    }

    /// Sets or replaces a secret.
    ///
    /// # Errors
    /// `InUse`: the app has [`MAX_SECRETS`] others.
    pub async fn set_secret(self, app: &App, name: &str, sealed: &str, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        self.lock_app(&tx, app).await?;
        let text = "UPDATE secret SET value = ?, updated_at = ? WHERE app_id = ? AND name = ?";
        if self.execute(&tx, text, values![sealed, now, app.id, name]).await? == 0 {
            let count: Option<i64> =
                self.tuple(&tx, "SELECT COUNT(*) FROM secret WHERE app_id = ?", values![app.id]).await?;
            if count.unwrap_or(0) >= MAX_SECRETS as i64 {
                return Err(Error::InUse(format!("an app may have {MAX_SECRETS} secrets; delete one first")));
            }
            let row = named![app_id: app.id, name, value: sealed, updated_at: now];
            self.insert_row(&tx, "secret", row).await?;
        }
        let detail = json!({"after": {"secret": name}});
        audit.commit(tx, AuditAction::Update, AuditObject::app(app.id), detail).await
    }

    /// False: the app has no such secret.
    pub async fn delete_secret(self, app: &App, name: &str, now: Millis, actor: &Actor) -> Result<bool> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "DELETE FROM secret WHERE app_id = ? AND name = ?";
        if self.execute(&tx, text, values![app.id, name]).await? == 0 {
            return Ok(false);
        }
        let detail = json!({"before": {"secret": name}});
        audit.commit(tx, AuditAction::Update, AuditObject::app(app.id), detail).await?;
        Ok(true)
    }
}
