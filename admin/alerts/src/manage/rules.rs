use carillon_accounts::policy::{Action, Object};
use carillon_engine::manage::{Error, require};
use carillon_scheduler::{AlertKind, FieldError};
use carillon_store::alert::rules::{AlertRule, CheckedRule, NewRule, RuleDefinition};
use carillon_store::{Actor, App, JobFilter};
use serde::{Deserialize, Serialize};

use crate::manage::entry_points::{Alerts, object_of};
use crate::silence;

const DAY: i64 = 86_400;
/// Jobs that a rule may name.
const MOST_JOBS: usize = 100;

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
        let id = self.store().alerts().create_rule(&new, self.now(), by).await?;
        self.rule(id).await
    }

    /// `revision`: the one that the caller has read.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Invalid`, `Changed`, `Taken`
    pub async fn update_rule(
        &self,
        id: i64,
        draft: RuleDraft,
        revision: Option<i64>,
        by: &Actor,
    ) -> Result<AlertRule, Error> {
        let checked = CheckedRule { revision, ..self.require_rule(id, by).await? };
        let new = self.checked(draft, by).await?;
        self.store().alerts().update_rule(checked, &new, self.now(), by).await?;
        self.rule(id).await
    }

    /// # Errors
    /// `Missing`, `Forbidden`; `Changed`, if it was moved to another app meanwhile
    pub async fn delete_rule(&self, id: i64, by: &Actor) -> Result<(), Error> {
        let checked = self.require_rule(id, by).await?;
        Ok(self.store().alerts().delete_rule(checked, self.now(), by).await?)
    }

    /// # Errors
    /// `Missing`
    pub async fn rule(&self, id: i64) -> Result<AlertRule, Error> {
        self.store().alerts().rule(id).await?.ok_or_else(|| Error::Missing(format!("alert rule {id}")))
    }

    /// The rule is changed only while it is of the app that was asked about.
    async fn require_rule(&self, id: i64, by: &Actor) -> Result<CheckedRule, Error> {
        let rule = self.rule(id).await?;
        may_change(by, rule.app_id, || format!("alert rule {id}"))?;
        Ok(CheckedRule { id, app_id: rule.app_id, revision: None })
    }

    async fn checked(&self, draft: RuleDraft, by: &Actor) -> Result<NewRule, Error> {
        let mut errors = errors_of(&draft);
        let app_id = match draft.app.as_deref().filter(|name| !name.is_empty()) {
            None => None,
            Some(name) => {
                let found = self.store().apps().by_name(name).await?;
                let may_see = |app: &App| require(by, Action::View, Object::App(app.id), String::new).is_ok();
                let missing = || FieldError::new("app", format!("there is no app {name:?}"));
                Some(found.filter(may_see).ok_or_else(|| Error::Invalid(vec![missing()]))?.id)
            }
        };
        may_change(by, app_id, || format!("app {}", draft.app.clone().unwrap_or_default()))?;
        errors.extend(self.channel_errors(&draft.definition, app_id).await?);
        errors.extend(self.job_errors(&draft, by).await?);
        if !errors.is_empty() {
            return Err(Error::Invalid(errors));
        }
        let RuleDraft { name, enabled, definition, .. } = draft;
        Ok(NewRule { name: name.trim().to_owned(), app_id, definition, enabled })
    }
}

impl Alerts {
    /// A channel that another app uses is as if there were none.
    async fn channel_errors(&self, rule: &RuleDefinition, app_id: Option<i64>) -> Result<Vec<FieldError>, Error> {
        let known = self.store().alerts().channels().await?;
        let second = rule.escalation.iter().flat_map(|it| &it.channels).map(|id| ("escalation.channels", *id));
        let named = rule.channels.iter().map(|id| ("channels", *id)).chain(second);
        let wrong = named.filter(|(_, id)| !known.iter().any(|row| row.id == *id && row.is_for(app_id)));
        let error = |(field, id)| FieldError::new(field, format!("there is no channel {id} that the rule may use"));
        Ok(wrong.map(error).collect())
    }

    /// Jobs that do not exist, that the caller does not see, or that are of another app.
    async fn job_errors(&self, draft: &RuleDraft, by: &Actor) -> Result<Vec<FieldError>, Error> {
        let ids = &draft.definition.jobs;
        if ids.is_empty() || ids.len() > MOST_JOBS {
            return Ok(vec![]);
        }
        let filter = JobFilter {
            apps: by.grants.visible_apps(),
            app: draft.app.clone().filter(|app| !app.is_empty()),
            ids: ids.clone(),
            limit: MOST_JOBS as u32,
            ..JobFilter::default()
        };
        let found = self.store().jobs().list(&filter).await?.items;
        let missing = ids.iter().filter(|id| !found.iter().any(|job| job.id == **id));
        Ok(missing
            .map(|id| FieldError::new("jobs", format!("there is no job {id} that the rule may be about")))
            .collect())
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
    must(it.jobs.len() <= MOST_JOBS, "jobs", "name at most 100 jobs; leave it empty for all of them");
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
