//! Alert rules: which events become messages, and on which channels.

use carillon_scheduler::{AlertKind, AuditAction, AuditObjectKind, Millis, Weekday};
use sea_orm::{ColIdx, DbErr, FromQueryResult as _, QueryResult, TryGetError, TryGetable};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditObject, difference};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::execute::NamedValue;
use crate::db::sql::filter::Conditions;
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::people::grants::VisibleApps;
use crate::views::AlertStore;

/// What one message is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// Everything that the rule matches.
    Rule,
    /// An app.
    #[default]
    App,
    Job,
}

/// A span of time without messages, each week.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Silence {
    /// The days on which it begins.
    pub weekdays: Vec<Weekday>,
    /// `HH:MM`; the window ends on the next day if `to` is not later.
    pub from: String,
    pub to: String,
    /// A time zone, such as `Europe/Berlin`.
    pub zone: String,
}

/// A second list of channels, for alerts that are not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Escalation {
    pub channels: Vec<i64>,
    pub after_seconds: i64,
}

/// What a rule says, beside its name and app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleDefinition {
    pub kinds: Vec<AlertKind>,
    /// Only these jobs; empty: all of the app, or of all apps.
    #[serde(default)]
    pub jobs: Vec<i64>,
    /// Events in a row of one job before there is an alert.
    #[serde(default = "one")]
    pub threshold: i64,
    /// A run that takes longer is an event of the kind `long_running`.
    #[serde(default)]
    pub running_seconds: Option<i64>,
    /// So is one that takes longer than this many percent of the 95th percentile of its job's recent runs.
    #[serde(default)]
    pub running_p95_percent: Option<i64>,
    #[serde(default)]
    pub group_by: GroupBy,
    /// Further events within this time become one message; each further message comes after a longer time.
    #[serde(default = "five_minutes")]
    pub group_seconds: i64,
    pub channels: Vec<i64>,
    #[serde(default)]
    pub escalation: Option<Escalation>,
    /// A reminder while the alert is open and not acknowledged.
    #[serde(default)]
    pub repeat_seconds: Option<i64>,
    /// Send a message when it is over.
    #[serde(default = "yes")]
    pub recovered: bool,
    #[serde(default)]
    pub silences: Vec<Silence>,
}

fn one() -> i64 {
    1
}

fn five_minutes() -> i64 {
    300
}

fn yes() -> bool {
    true
}

impl RuleDefinition {
    /// All channels that it names.
    pub fn all_channels(&self) -> impl Iterator<Item = i64> {
        let escalation = self.escalation.iter().flat_map(|it| &it.channels);
        self.channels.iter().chain(escalation).copied()
    }
}

row_struct! {
    /// A rule as it is stored.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AlertRule {
        pub id: i64,
        pub name: String,
        /// None: it is for all apps.
        pub app_id: Option<i64>,
        pub definition: RuleDefinition as RuleText,
        pub enabled: bool,
        pub revision: i64,
        pub updated_at: Millis,
    }
}

/// A rule to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRule {
    pub name: String,
    pub app_id: Option<i64>,
    pub definition: RuleDefinition,
    pub enabled: bool,
}

impl NewRule {
    fn columns(&self) -> [NamedValue; 5] {
        let Self { name, app_id, definition, enabled } = self.clone();
        let definition = serde_json::to_string(&definition).unwrap_or_default();
        named![name, app_id, name_scope: app_id.unwrap_or(0), definition, enabled]
    }

    fn audited(&self) -> serde_json::Value {
        let mut members = json!({"name": self.name, "app_id": self.app_id, "enabled": self.enabled});
        let definition = serde_json::to_value(&self.definition).unwrap_or_default();
        if let (Some(members), Some(definition)) = (members.as_object_mut(), definition.as_object()) {
            members.extend(definition.clone());
        }
        members
    }
}

impl AlertRule {
    fn as_new(&self) -> NewRule {
        let Self { name, app_id, definition, enabled, .. } = self.clone();
        NewRule { name, app_id, definition, enabled }
    }
}

/// What the caller has checked of a rule before it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedRule {
    pub id: i64,
    /// The app whose rule the caller may change; None: it is for all apps.
    pub app_id: Option<i64>,
    /// The revision that the caller has read.
    pub revision: Option<i64>,
}

const COLUMNS: &str = "id, name, app_id, definition, enabled, revision, updated_at";

struct RuleText(RuleDefinition);

impl TryGetable for RuleText {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> std::result::Result<Self, TryGetError> {
        let parsed = serde_json::from_str(&String::try_get_by(row, index)?).map(Self);
        parsed.map_err(|error| DbErr::Type(format!("alert rule: {error}")).into())
    }
}

fn object(id: i64, app_id: Option<i64>) -> AuditObject {
    AuditObject::new(AuditObjectKind::AlertRule, id).in_app(app_id)
}

impl AlertStore<'_> {
    /// By name: those of these apps; those for all apps are for who sees all.
    pub async fn rules(self, visible: &VisibleApps) -> Result<Vec<AlertRule>> {
        let mut conditions = Conditions::default();
        conditions.visible(visible, "app_id");
        let (filter, values) = conditions.finish();
        self.all(&self.read, &format!("SELECT {COLUMNS} FROM alert_rule{filter} ORDER BY name"), values).await
    }

    /// All of them, for the router.
    pub async fn rules_to_match(self) -> Result<Vec<AlertRule>> {
        let rows = self.query(&self.engine_reads, &format!("SELECT {COLUMNS} FROM alert_rule"), vec![]).await?;
        // One that cannot be read must not keep the others from their messages.
        Ok(rows.iter().filter_map(|row| AlertRule::from_query_result(row, "").ok()).collect())
    }

    pub async fn rule(self, id: i64) -> Result<Option<AlertRule>> {
        self.one(&self.read, &format!("SELECT {COLUMNS} FROM alert_rule WHERE id = ?"), values![id]).await
    }

    /// # Errors
    /// `Taken`
    pub async fn create_rule(self, new: &NewRule, now: Millis, actor: &Actor) -> Result<i64> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let row = named![id].into_iter().chain(new.columns());
        let row = row.chain(named![revision: 1_i64, created_at: now, updated_at: now]);
        let written = self.insert_row(&tx, "alert_rule", row).await;
        written.map_err(|error| error.or_taken(UniqueKey::AlertRuleName, &new.name))?;
        let detail = json!({"after": new.audited()});
        audit.commit(tx, AuditAction::Create, object(id, new.app_id), detail).await?;
        Ok(id)
    }

    /// # Errors
    /// `Missing`, `Changed`, `Taken`
    pub async fn update_rule(self, checked: CheckedRule, new: &NewRule, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let (id, old) = (checked.id, self.locked_rule(&tx, checked).await?);
        let rest = ", revision = revision + 1, updated_at = ? WHERE id = ?";
        let written = self.update_columns(&tx, "alert_rule", new.columns(), (rest, values![now, id])).await;
        written.map_err(|error| error.or_taken(UniqueKey::AlertRuleName, &new.name))?;
        if old.app_id != new.app_id {
            // They are about another app, whose people may not see what comes now.
            self.end_alerts(&tx, "= ?", id, now).await?;
        }
        let detail = difference(&old.as_new().audited(), &new.audited());
        audit.commit(tx, AuditAction::Update, object(id, new.app_id), detail).await
    }

    /// Its open alerts end.
    ///
    /// # Errors
    /// `Missing`, `Changed`
    pub async fn delete_rule(self, checked: CheckedRule, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let (id, old) = (checked.id, self.locked_rule(&tx, checked).await?);
        self.execute(&tx, "DELETE FROM alert_rule WHERE id = ?", values![id]).await?;
        self.end_alerts(&tx, "= ?", id, now).await?;
        let detail = json!({"before": old.as_new().audited()});
        audit.commit(tx, AuditAction::Delete, object(id, old.app_id), detail).await
    }

    /// The rule as it is now, if it is still the one that was checked.
    async fn locked_rule(self, tx: &Transaction, checked: CheckedRule) -> Result<AlertRule> {
        let text = format!("SELECT {COLUMNS} FROM alert_rule WHERE id = ?{{for_update}}");
        let rule: Option<AlertRule> = self.one(tx, &text, values![checked.id]).await?;
        let rule = rule.ok_or_else(|| Error::Missing(format!("alert rule {}", checked.id)))?;
        if rule.app_id != checked.app_id || checked.revision.is_some_and(|revision| revision != rule.revision) {
            return Err(Error::Changed(format!("the rule has revision {} by now", rule.revision)));
        }
        Ok(rule)
    }

    /// Ends the open alerts of the rules that `rules`, a condition of one `?`, selects. What they are about goes on, so its items stay
    /// open, and only channels that keep incidents get a message of the end. Alerts that were never open stay what they are.
    pub(crate) async fn end_alerts(self, tx: &Transaction, rules: &str, value: i64, now: Millis) -> Result<()> {
        let text = format!(
            "UPDATE alert SET state = CASE WHEN state = 0 THEN 0 ELSE 3 END, open_key = NULL, resolved_at = ?, repeat_at = NULL, \
             escalate_at = NULL, notify_at = CASE WHEN told > 0 THEN ? END, due_at = CASE WHEN told > 0 THEN ? END \
             WHERE open_key IS NOT NULL AND rule_id {rules}"
        );
        self.execute(tx, &text, values![now, now, now, value]).await.map(drop)
    }
}
