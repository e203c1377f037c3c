use carillon_accounts::policy::{Action, Object};
use carillon_engine::manage::{Error, require};
use carillon_scheduler::{AlertKind, FieldError};
use carillon_store::alert::rules::{AlertRule, NewRule, RuleDefinition};
use carillon_store::{Actor, App};
use serde::{Deserialize, Serialize};

use crate::manage::entry_points::{Alerts, object_of};
use crate::silence;

const DAY: i64 = 86_400;

/// A rule as a person or a program writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleDraft {
    pub name: String,
    /// The name of its app; none: it is for all apps.
    #[serde(default)]
    pub app: Option<String>,
    #[serde(default = "yes")]
    pub enabled: bool,
    #[serde(flatten)]
    pub definition: RuleDefinition,
}

fn yes() -> bool {
    true
}

impl Alerts {
    /// # Errors
    /// `Forbidden`, `Invalid`, `Taken`
    pub async fn create_rule(&self, draft: RuleDraft, by: &Actor) -> Result<AlertRule, Error> {
        let new = self.checked(draft, by).await?;
        let id = self.store().create_alert_rule(&new, self.now(), by).await?;
        self.rule(id).await
    }

    /// `expected`: the revision that the caller has read.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Invalid`, `Changed`, `Taken`
    pub async fn update_rule(
        &self,
        id: i64,
        draft: RuleDraft,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<AlertRule, Error> {
        self.require_rule(id, by).await?;
        let new = self.checked(draft, by).await?;
        self.store().update_alert_rule(id, &new, expected, self.now(), by).await?;
        self.rule(id).await
    }

    /// # Errors
    /// `Missing`, `Forbidden`
    pub async fn delete_rule(&self, id: i64, by: &Actor) -> Result<(), Error> {
        self.require_rule(id, by).await?;
        Ok(self.store().delete_alert_rule(id, self.now(), by).await?)
    }

    /// # Errors
    /// `Missing`
    pub async fn rule(&self, id: i64) -> Result<AlertRule, Error> {
        self.store().alert_rule(id).await?.ok_or_else(|| Error::Missing(format!("alert rule {id}")))
    }

    async fn require_rule(&self, id: i64, by: &Actor) -> Result<(), Error> {
        let rule = self.rule(id).await?;
        may_change(by, rule.app_id, || format!("alert rule {id}"))
    }

    async fn checked(&self, draft: RuleDraft, by: &Actor) -> Result<NewRule, Error> {
        let mut errors = errors_of(&draft);
        let app_id = match draft.app.as_deref().filter(|name| !name.is_empty()) {
            None => None,
            Some(name) => {
                let found = self.store().app_by_name(name).await?;
                let may_see = |app: &App| require(by, Action::View, Object::App(app.id), String::new).is_ok();
                let missing = || FieldError::new("app", format!("there is no app {name:?}"));
                Some(found.filter(may_see).ok_or_else(|| Error::Invalid(vec![missing()]))?.id)
            }
        };
        may_change(by, app_id, || format!("app {}", draft.app.clone().unwrap_or_default()))?;
        let known = self.store().alert_channels().await?;
        for id in draft.definition.all_channels() {
            if !known.iter().any(|channel| channel.id == id) {
                errors.push(FieldError::new("channels", format!("there is no channel {id}")));
            }
        }
        if !errors.is_empty() {
            return Err(Error::Invalid(errors));
        }
        let RuleDraft { name, enabled, definition, .. } = draft;
        Ok(NewRule { name: name.trim().to_owned(), app_id, definition, enabled })
    }
}

fn may_change(by: &Actor, app_id: Option<i64>, name: impl FnOnce() -> String) -> Result<(), Error> {
    let action = if app_id.is_some() { Action::Edit } else { Action::Administer };
    require(by, action, object_of(app_id), name)
}

/// What is wrong without a look at the database.
fn errors_of(draft: &RuleDraft) -> Vec<FieldError> {
    let mut errors = vec![];
    let mut must = |holds: bool, field: &str, message: &str| {
        if !holds {
            errors.push(FieldError::new(field, message));
        }
    };
    let it = &draft.definition;
    let (name, count) = (draft.name.trim(), draft.name.trim().chars().count());
    must((1..=64).contains(&count) && !name.chars().any(char::is_control), "name", "write 1 to 64 characters");
    must(!it.kinds.is_empty(), "kinds", "choose at least one kind of event");
    let of_app = draft.app.as_deref().is_some_and(|app| !app.is_empty());
    let is_of_scheduler = it.kinds.iter().any(|kind| kind.is_of_scheduler());
    must(!of_app || !is_of_scheduler, "kinds", "clock, database and ring are of no app: make a rule for all apps");
    must(it.jobs.len() <= 100, "jobs", "name at most 100 jobs; leave it empty for all of them");
    must((1..=100).contains(&it.threshold), "threshold", "write a number from 1 to 100");
    let is_running = it.kinds.contains(&AlertKind::LongRunning);
    must(
        if is_running { it.running_seconds.is_some() || it.running_p95_percent.is_some() } else { true },
        "running_seconds",
        "write how many seconds a run may take, or how many percent of its job's 95th percentile",
    );
    must(
        it.running_seconds.is_none_or(|limit| (1..=30 * DAY).contains(&limit)),
        "running_seconds",
        "write seconds from 1 to 2592000",
    );
    must(
        it.running_p95_percent.is_none_or(|percent| (110..=10_000).contains(&percent)),
        "running_p95_percent",
        "write percent from 110 to 10000",
    );
    must((0..=DAY).contains(&it.group_seconds), "group_seconds", "write seconds from 0 to 86400");
    must((1..=20).contains(&it.channels.len()), "channels", "choose 1 to 20 channels");
    must(
        it.repeat_seconds.is_none_or(|repeat| (60..=7 * DAY).contains(&repeat)),
        "repeat_seconds",
        "write seconds from 60 to 604800, or nothing",
    );
    if let Some(escalation) = &it.escalation {
        must((1..=20).contains(&escalation.channels.len()), "escalation.channels", "choose 1 to 20 channels");
        must(
            (60..=7 * DAY).contains(&escalation.after_seconds),
            "escalation.after_seconds",
            "write seconds from 60 to 604800",
        );
    }
    must(it.silences.len() <= 20, "silences", "write at most 20 windows");
    errors.extend(it.silences.iter().enumerate().flat_map(|(place, it)| silence::check(it, place)));
    errors
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn wrong_members_are_named() {
        let fields = |more: Value| {
            let mut draft = json!({"name": "r", "kinds": ["failed"], "channels": [1]});
            draft.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let draft: RuleDraft = serde_json::from_value(draft).unwrap();
            errors_of(&draft).into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        assert_eq!(fields(json!({})), [""; 0]);
        for (more, field) in [
            (json!({"name": " "}), "name"),
            (json!({"kinds": []}), "kinds"),
            (json!({"kinds": ["clock"], "app": "billing"}), "kinds"),
            (json!({"kinds": ["long_running"]}), "running_seconds"),
            (json!({"kinds": ["long_running"], "running_seconds": 0}), "running_seconds"),
            (json!({"kinds": ["long_running"], "running_p95_percent": 100}), "running_p95_percent"),
            (json!({"threshold": 0}), "threshold"),
            (json!({"group_seconds": -1}), "group_seconds"),
            (json!({"channels": []}), "channels"),
            (json!({"repeat_seconds": 5}), "repeat_seconds"),
            (json!({"escalation": {"channels": [], "after_seconds": 60}}), "escalation.channels"),
            (
                json!({"silences": [{"weekdays": ["MON"], "from": "8", "to": "09:00", "zone": "UTC"}]}),
                "silences[0].from",
            ),
        ] {
            assert_eq!(fields(more.clone()), [field], "{more}");
        }
    }
}
