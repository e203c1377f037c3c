//! Alerts as people see them, and what they do with them.

use carillon_scheduler::{AlertKind, AuditAction, AuditObjectKind, Millis, words};
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::sql::filter::{Conditions, Page};
use crate::db::sql::rows::{Code, Word};
use crate::error::{Error, Result};
use crate::people::grants::VisibleApps;
use crate::views::AlertStore;

words! {
    /// Where an alert stands.
    pub enum AlertState: "state of an alert" {
        /// Fewer events in a row than the rule asks for.
        Pending = 0 "pending",
        Open = 1 "open",
        /// A person has acknowledged the alert: no reminder and no escalation.
        Acknowledged = 2 "acknowledged",
        Resolved = 3 "resolved",
    }
}
coded!(AlertState: "alert state");

impl AlertState {
    /// A state that people see.
    pub fn of_word(word: &str) -> Option<Self> {
        word.parse().ok().filter(|state| *state != Self::Pending)
    }
}

row_struct! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Alert {
        pub id: i64,
        pub rule_id: i64,
        pub rule: Option<String>,
        pub group_key: String,
        pub app_id: Option<i64>,
        pub app: Option<String>,
        pub state: AlertState as Code,
        pub kind: AlertKind as Word,
        /// The message of the latest event.
        pub message: String,
        pub events: i64,
        /// Events that messages have told of.
        pub told: i64,
        /// Messages about events in a row.
        pub steps: i64,
        pub opened_at: Millis,
        pub last_at: Millis,
        pub told_at: Option<Millis>,
        pub notify_at: Option<Millis>,
        pub repeat_at: Option<Millis>,
        pub escalate_at: Option<Millis>,
        pub escalated_at: Option<Millis>,
        pub acknowledged_at: Option<Millis>,
        pub acknowledged_by: Option<String>,
        pub note: Option<String>,
        /// A person has silenced the alert until then: no message.
        pub silent_until: Option<Millis>,
        pub resolved_at: Option<Millis>,
    }
}

row_struct! {
    /// A job, executor or condition of an alert.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AlertItem {
        pub subject: String,
        pub kind: AlertKind as Word,
        pub job_id: Option<i64>,
        pub job: Option<String>,
        pub run_id: Option<i64>,
        pub message: String,
        pub events: i64,
        pub first_at: Millis,
        pub last_at: Millis,
        pub resolved_at: Option<Millis>,
    }
}

/// What a person does with an alert that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertStep<'a> {
    /// No reminder and no escalation from now on.
    Acknowledge { note: &'a str },
    /// No message until then.
    Silence { until: Millis },
}

/// Which alerts; the default is all of them that have been open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertFilter {
    pub apps: VisibleApps,
    /// Only those that are not resolved, or only those that are.
    pub open: Option<bool>,
    /// Only those in this state.
    pub state: Option<AlertState>,
    pub app_id: Option<i64>,
    pub rule_id: Option<i64>,
    /// Only those with an item of this kind.
    pub kind: Option<AlertKind>,
    /// Alerts behind this one in the list: its last event and its id.
    pub after: Option<(Millis, i64)>,
    /// 1 to 1000.
    pub limit: u32,
}

pub(crate) const SELECT: &str = "SELECT a.id, a.rule_id, r.name AS rule, a.group_key, a.app_id, p.name AS app, a.state, a.kind, a.message, a.events, \
     a.told, a.steps, a.opened_at, a.last_at, a.told_at, a.notify_at, a.repeat_at, a.escalate_at, a.escalated_at, a.acknowledged_at, \
     a.acknowledged_by, a.note, a.silent_until, a.resolved_at FROM alert a LEFT JOIN alert_rule r ON r.id = a.rule_id LEFT JOIN app p ON p.id = a.app_id";

impl AlertStore<'_> {
    /// The latest event first.
    pub async fn list(self, filter: &AlertFilter) -> Result<Page<Alert, (Millis, i64)>> {
        let mut conditions = Conditions::default();
        conditions.visible(&filter.apps, "a.app_id");
        conditions.add_if("a.state = ?", filter.state.map(AlertState::code));
        conditions.add_if("a.app_id = ?", filter.app_id);
        conditions.add_if("a.rule_id = ?", filter.rule_id);
        conditions.add_if(
            "a.id IN (SELECT i.alert_id FROM alert_item i WHERE i.kind = ?)",
            filter.kind.map(AlertKind::as_str),
        );
        match filter.open {
            Some(true) => conditions.add("a.state IN (1, 2)", []),
            Some(false) => conditions.add("a.state = 3", []),
            None => conditions.add("a.state > 0", []),
        }
        if let Some((last_at, id)) = filter.after {
            let text = "a.last_at <= ? AND (a.last_at < ? OR a.id < ?)";
            conditions.add(text, [last_at.into(), last_at.into(), id.into()]);
        }
        let (text, values) = conditions.finish_page(filter.limit);
        let text = format!("{SELECT}{text} ORDER BY a.last_at DESC, a.id DESC LIMIT ?");
        let rows = self.query(&self.read, &text, values).await?;
        Ok(self.readable_page("alert", &rows, filter.limit, |alert: &Alert| (alert.last_at, alert.id)))
    }

    /// One that has been open.
    pub async fn get(self, id: i64) -> Result<Option<Alert>> {
        self.one(&self.read, &format!("{SELECT} WHERE a.id = ? AND a.state > 0"), values![id]).await
    }

    /// The app of an alert; the inner None: it is of no app.
    pub async fn app_of(self, id: i64) -> Result<Option<Option<i64>>> {
        self.tuple(&self.read, "SELECT app_id FROM alert WHERE id = ?", values![id]).await
    }

    /// The app of a rule; the inner None: it is for all apps.
    pub async fn app_of_rule(self, id: i64) -> Result<Option<Option<i64>>> {
        self.tuple(&self.read, "SELECT app_id FROM alert_rule WHERE id = ?", values![id]).await
    }

    /// Open ones first, then by the latest event.
    pub async fn items(self, alert_id: i64, limit: u32) -> Result<Vec<AlertItem>> {
        let text = "SELECT i.alert_id, i.subject, i.kind, i.job_id, j.name AS job, i.run_id, i.message, i.events, i.first_at, i.last_at, i.resolved_at \
                    FROM alert_item i LEFT JOIN job j ON j.id = i.job_id WHERE i.alert_id = ? \
                    ORDER BY CASE WHEN i.resolved_at IS NULL THEN 0 ELSE 1 END, i.last_at DESC, i.subject LIMIT ?";
        let rows = self.query(&self.read, text, values![alert_id, i64::from(limit)]).await?;
        Ok(self.readable("alert", &rows))
    }

    /// How many items an alert has that are not over, and how many in all.
    pub async fn count_items(self, alert_id: i64) -> Result<(i64, i64)> {
        let text =
            "SELECT COUNT(CASE WHEN resolved_at IS NULL THEN 1 END), COUNT(*) FROM alert_item WHERE alert_id = ?";
        Ok(self.tuple(&self.read, text, values![alert_id]).await?.unwrap_or_default())
    }

    /// # Errors
    /// `Missing`; `Changed`, if it is resolved already
    pub async fn handle(self, id: i64, step: AlertStep<'_>, now: Millis, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "SELECT state, app_id FROM alert WHERE id = ?{for_update}";
        let found: Option<(i16, Option<i64>)> = self.tuple(&tx, text, values![id]).await?;
        let app_id = found.and_then(|(_, app_id)| app_id);
        match found.and_then(|(state, _)| AlertState::from_code(state)) {
            // What has not happened often enough is no alert yet.
            None | Some(AlertState::Pending) => return Err(Error::Missing(format!("alert {id}"))),
            Some(AlertState::Resolved) => return Err(Error::Changed("the alert is resolved already".to_owned())),
            Some(_) => {}
        }
        let detail = match step {
            AlertStep::Acknowledge { note } => {
                let text = "UPDATE alert SET state = ?, acknowledged_at = ?, acknowledged_by = ?, note = ?, notify_at = NULL, \
                            repeat_at = NULL, escalate_at = NULL, due_at = NULL WHERE id = ?";
                let by: String = actor.name.chars().take(64).collect();
                self.execute(&tx, text, values![AlertState::Acknowledged.code(), now, by, note, id]).await?;
                json!({"acknowledged": true, "note": note})
            }
            AlertStep::Silence { until } => {
                self.execute(&tx, "UPDATE alert SET silent_until = ? WHERE id = ?", values![until, id]).await?;
                json!({"silent_until": until})
            }
        };
        audit.commit(tx, AuditAction::Update, AuditObject::new(AuditObjectKind::Alert, id).in_app(app_id), detail).await
    }
}
