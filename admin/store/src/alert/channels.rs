//! Channels: where messages go. The settings are stored as JSON; what is secret in them is stored encrypted, by the caller's keys.

use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use serde_json::{Value, json};

use crate::alert::rules::AlertRule;
use crate::audit::actor::Actor;
use crate::audit::entry::{AuditObject, difference};
use crate::db::ids;
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::views::AlertStore;

row_struct! {
    /// A channel as it is stored.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ChannelRow {
        pub id: i64,
        pub name: String,
        /// `email`, `webhook` …
        pub kind: String,
        /// JSON without secrets.
        pub settings: String,
        /// The encrypted JSON of its secrets.
        pub sealed: Option<String>,
        /// The ids of the apps that may use the channel; None: all apps.
        pub apps: Option<Vec<i64>> as AppIds,
        /// The language of its messages (a code of the catalogue) and their time zone (IANA).
        pub language: String,
        pub zone: String,
        /// Messages that it gets in an hour; the others are left out.
        pub per_hour: i64,
        pub revision: i64,
        pub updated_at: Millis,
    }
}

/// Stored as JSON.
struct AppIds(Option<Vec<i64>>);

impl sea_orm::TryGetable for AppIds {
    fn try_get_by<I: sea_orm::ColIdx>(
        row: &sea_orm::QueryResult,
        index: I,
    ) -> std::result::Result<Self, sea_orm::TryGetError> {
        let text: Option<String> = row.try_get_by(index)?;
        // A list that cannot be read allows no app.
        Ok(Self(text.map(|text| serde_json::from_str(&text).unwrap_or_default())))
    }
}

impl ChannelRow {
    /// Whether an app may use the channel; None: all apps together.
    pub fn is_for(&self, app_id: Option<i64>) -> bool {
        self.apps.as_ref().is_none_or(|apps| app_id.is_some_and(|id| apps.contains(&id)))
    }

    fn stored_apps(&self) -> Option<String> {
        self.apps.as_ref().map(|apps| json!(apps).to_string())
    }

    fn audited(&self) -> Value {
        let settings: Value = serde_json::from_str(&self.settings).unwrap_or_default();
        // For secrets only whether they have changed: another nonce makes another text.
        let secrets = self.sealed.as_deref().map(|sealed| sealed.chars().take(8).collect::<String>());
        json!({"name": self.name, "kind": self.kind, "settings": settings, "secrets": secrets, "apps": self.apps,
            "language": self.language, "zone": self.zone, "per_hour": self.per_hour})
    }
}

const COLUMNS: &str = "id, name, kind, settings, sealed, apps, language, zone, per_hour, revision, updated_at";

impl AlertStore<'_> {
    /// By name.
    pub async fn channels(self) -> Result<Vec<ChannelRow>> {
        self.all(&self.read, &format!("SELECT {COLUMNS} FROM alert_channel ORDER BY name"), vec![]).await
    }

    pub async fn channel(self, id: i64) -> Result<Option<ChannelRow>> {
        self.one(&self.read, &format!("SELECT {COLUMNS} FROM alert_channel WHERE id = ?"), values![id]).await
    }

    /// The id of a new channel: its secrets are encrypted for this id.
    pub async fn next_channel_id(self) -> Result<i64> {
        self.take_id(&ids::ROW).await
    }

    /// # Errors
    /// `Taken`
    pub async fn create_channel(self, new: &ChannelRow, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let ChannelRow { id, name, kind, settings, sealed, language, zone, per_hour, .. } = new.clone();
        let row = named![id, name, kind, settings, sealed, apps: new.stored_apps(), language, zone, per_hour,
            revision: 1_i64, created_at: now, updated_at: now];
        let written = self.insert_row(&tx, "alert_channel", row).await;
        written.map_err(|error| error.or_taken(UniqueKey::AlertChannelName, &new.name))?;
        let detail = json!({"after": new.audited()});
        audit.commit(tx, AuditAction::Create, AuditObject::new(AuditObjectKind::AlertChannel, new.id), detail).await
    }

    /// # Errors
    /// `Missing`; `Changed`, if it has not the revision of `new` any more; `Taken`
    pub async fn update_channel(self, new: &ChannelRow, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let old = self.locked_channel(&tx, new.id).await?;
        if old.revision != new.revision {
            return Err(Error::Changed(format!("the channel has revision {} by now", old.revision)));
        }
        let ChannelRow { name, settings, sealed, language, zone, per_hour, .. } = new.clone();
        let set = named![name, settings, sealed, apps: new.stored_apps(), language, zone, per_hour];
        let rest = ", revision = revision + 1, updated_at = ? WHERE id = ?";
        let written = self.update_columns(&tx, "alert_channel", set, (rest, values![now, new.id])).await;
        written.map_err(|error| error.or_taken(UniqueKey::AlertChannelName, &new.name))?;
        let detail = difference(&old.audited(), &new.audited());
        audit.commit(tx, AuditAction::Update, AuditObject::new(AuditObjectKind::AlertChannel, new.id), detail).await
    }

    /// What waits for it is given up.
    ///
    /// # Errors
    /// `Missing`; `InUse`, with a rule that names it
    pub async fn delete_channel(self, id: i64, now: Millis, actor: &Actor) -> Result<()> {
        let rules: Vec<AlertRule> = self.rules_to_match().await?;
        if let Some(rule) = rules.iter().find(|rule| rule.definition.all_channels().any(|it| it == id)) {
            return Err(Error::InUse(format!("the rule {:?} uses the channel; change the rule first", rule.name)));
        }
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let old = self.locked_channel(&tx, id).await?;
        self.execute(&tx, "DELETE FROM alert_channel WHERE id = ?", values![id]).await?;
        let text = "UPDATE alert_delivery SET state = 2, next_at = NULL, finished_at = ?, answer = ? WHERE channel_id = ? AND next_at > 0";
        self.execute(&tx, text, values![now, "the channel was deleted", id]).await?;
        let detail = json!({"before": old.audited()});
        audit.commit(tx, AuditAction::Delete, AuditObject::new(AuditObjectKind::AlertChannel, id), detail).await
    }

    async fn locked_channel(self, tx: &crate::db::pool::transaction::Transaction, id: i64) -> Result<ChannelRow> {
        let text = format!("SELECT {COLUMNS} FROM alert_channel WHERE id = ?{{for_update}}");
        let old: Option<ChannelRow> = self.one(tx, &text, values![id]).await?;
        old.ok_or_else(|| Error::Missing(format!("alert channel {id}")))
    }
}
