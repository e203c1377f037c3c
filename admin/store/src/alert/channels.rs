//! Channels: where messages go. The settings are stored as JSON; what is secret in them is stored encrypted, by the caller's keys.

use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use sea_orm::FromQueryResult;
use serde_json::{Value, json};

use crate::alert::rules::AlertRule;
use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject, difference};
use crate::db::ids;
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::store::Store;

/// A channel as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct ChannelRow {
    pub id: i64,
    pub name: String,
    /// `email`, `webhook` …
    pub kind: String,
    /// JSON without secrets.
    pub settings: String,
    /// The encrypted JSON of its secrets.
    pub sealed: Option<String>,
    pub revision: i64,
    pub updated_at: Millis,
}

impl ChannelRow {
    fn audited(&self) -> Value {
        let settings: Value = serde_json::from_str(&self.settings).unwrap_or_default();
        // Of the secrets only that they have changed: another nonce makes another text.
        let secrets = self.sealed.as_deref().map(|sealed| sealed.chars().take(8).collect::<String>());
        json!({"name": self.name, "kind": self.kind, "settings": settings, "secrets": secrets})
    }
}

const COLUMNS: &str = "id, name, kind, settings, sealed, revision, updated_at";

impl Store {
    /// By name.
    pub async fn alert_channels(&self) -> Result<Vec<ChannelRow>> {
        self.all(&self.read, &format!("SELECT {COLUMNS} FROM alert_channel ORDER BY name"), vec![]).await
    }

    pub async fn alert_channel(&self, id: i64) -> Result<Option<ChannelRow>> {
        self.one(&self.read, &format!("SELECT {COLUMNS} FROM alert_channel WHERE id = ?"), values![id]).await
    }

    /// The id of a new channel: its secrets are encrypted for this id.
    pub async fn next_channel_id(&self) -> Result<i64> {
        self.take_id(&ids::ROW).await
    }

    /// # Errors
    /// `Taken`
    pub async fn create_alert_channel(&self, new: &ChannelRow, now: Millis, actor: &Actor) -> Result<()> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin_change().await?;
        let columns = "id, name, kind, settings, sealed, revision, created_at, updated_at";
        let it = new.clone();
        let row = values![it.id, it.name, it.kind, it.settings, it.sealed, 1_i64, now, now];
        let written = self.insert_rows(&tx, "alert_channel", columns, vec![row]).await;
        written.map_err(|error| error.or_taken(UniqueKey::AlertChannelName, &new.name))?;
        let detail = json!({"after": new.audited()});
        let entry = AuditEntry::new(
            actor,
            now,
            AuditAction::Create,
            AuditObject::new(AuditObjectKind::AlertChannel, new.id),
            detail,
        );
        self.audit(&tx, vec![entry], &[audit_id]).await?;
        tx.commit().await.map_err(Into::into)
    }

    /// # Errors
    /// `Missing`; `Changed`, if it has not the revision of `new` any more; `Taken`
    pub async fn update_alert_channel(&self, new: &ChannelRow, now: Millis, actor: &Actor) -> Result<()> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin_change().await?;
        let old = self.locked_channel(&tx, new.id).await?;
        if old.revision != new.revision {
            return Err(Error::Changed(format!("the channel has revision {} by now", old.revision)));
        }
        let text = "UPDATE alert_channel SET name = ?, settings = ?, sealed = ?, revision = revision + 1, updated_at = ? WHERE id = ?";
        let it = new.clone();
        let written = self.execute(&tx, text, values![it.name, it.settings, it.sealed, now, it.id]).await;
        written.map_err(|error| error.or_taken(UniqueKey::AlertChannelName, &new.name))?;
        let detail = difference(&old.audited(), &new.audited());
        let entry = AuditEntry::new(
            actor,
            now,
            AuditAction::Update,
            AuditObject::new(AuditObjectKind::AlertChannel, new.id),
            detail,
        );
        self.audit(&tx, vec![entry], &[audit_id]).await?;
        tx.commit().await.map_err(Into::into)
    }

    /// What waits for it is given up.
    ///
    /// # Errors
    /// `Missing`; `InUse`, with a rule that names it
    pub async fn delete_alert_channel(&self, id: i64, now: Millis, actor: &Actor) -> Result<()> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let rules: Vec<AlertRule> = self.rules_to_match().await?;
        if let Some(rule) = rules.iter().find(|rule| rule.definition.all_channels().any(|it| it == id)) {
            return Err(Error::InUse(format!("the rule {:?} uses the channel; change the rule first", rule.name)));
        }
        let tx = self.begin_change().await?;
        let old = self.locked_channel(&tx, id).await?;
        self.execute(&tx, "DELETE FROM alert_channel WHERE id = ?", values![id]).await?;
        let text = "UPDATE alert_delivery SET state = 2, next_at = NULL, finished_at = ?, answer = ? WHERE channel_id = ? AND next_at > 0";
        self.execute(&tx, text, values![now, "the channel was deleted", id]).await?;
        let detail = json!({"before": old.audited()});
        let entry = AuditEntry::new(
            actor,
            now,
            AuditAction::Delete,
            AuditObject::new(AuditObjectKind::AlertChannel, id),
            detail,
        );
        self.audit(&tx, vec![entry], &[audit_id]).await?;
        tx.commit().await.map_err(Into::into)
    }

    async fn locked_channel(&self, tx: &crate::db::pool::transaction::Transaction, id: i64) -> Result<ChannelRow> {
        let text = format!("SELECT {COLUMNS} FROM alert_channel WHERE id = ?{{for_update}}");
        let old: Option<ChannelRow> = self.one(tx, &text, values![id]).await?;
        old.ok_or_else(|| Error::Missing(format!("alert channel {id}")))
    }
}
