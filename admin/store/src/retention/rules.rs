//! How long runs are kept: for all, for an app, for a job. Each value that is not set is that of the next wider one.

use foldhash::{HashMap, HashMapExt as _};

use carillon_scheduler::{AuditAction, AuditObjectKind, FieldError, Millis};
use sea_orm::FromQueryResult;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::error::{Error, Result};
use crate::views::RetentionStore;

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    All,
    App(i64),
    Job(i64),
}

impl Scope {
    fn key(self) -> (&'static str, i64) {
        match self {
            Self::All => ("all", 0),
            Self::App(id) => ("app", id),
            Self::Job(id) => ("job", id),
        }
    }
}

/// A rule; `None`: as the next wider one says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromQueryResult)]
pub struct Retention {
    /// Days for which a run is kept that did not fail; 0: without end.
    pub days: Option<i32>,
    /// Days for which a failed run is kept; 0: without end.
    pub failure_days: Option<i32>,
    /// Number of a job's last failures that are never deleted.
    pub failures: Option<i32>,
    /// Number of a job's latest runs without failure that are kept; 0: without limit.
    pub runs: Option<i32>,
}

/// A rule in which everything is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveRetention {
    pub days: i32,
    pub failure_days: i32,
    pub failures: i32,
    pub runs: i32,
}

/// Where no rule is set.
pub const DEFAULT: EffectiveRetention = EffectiveRetention { days: 30, failure_days: 90, failures: 10, runs: 0 };

pub const MAX_DAYS: i32 = 3650;
pub const MAX_FAILURES: i32 = 1000;
pub const MAX_RUNS: i32 = 1_000_000_000;

impl Retention {
    /// # Errors
    /// One for each number that is out of its range.
    pub fn validate(&self) -> std::result::Result<(), Vec<FieldError>> {
        let ranges = [
            ("days", self.days, MAX_DAYS),
            ("failure_days", self.failure_days, MAX_DAYS),
            ("failures", self.failures, MAX_FAILURES),
            ("runs", self.runs, MAX_RUNS),
        ];
        let wrong: Vec<_> = ranges
            .iter()
            .filter(|(_, value, most)| value.is_some_and(|value| !(0..=*most).contains(&value)))
            .map(|(name, _, most)| {
                FieldError::new(*name, format!("is out of range; write a number from 0 to {most}, or null"))
            })
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    fn or_inherit(&self, wider: EffectiveRetention) -> EffectiveRetention {
        EffectiveRetention {
            days: self.days.unwrap_or(wider.days),
            failure_days: self.failure_days.unwrap_or(wider.failure_days),
            failures: self.failures.unwrap_or(wider.failures),
            runs: self.runs.unwrap_or(wider.runs),
        }
    }
}

/// All rules.
#[derive(Clone, Debug, Default)]
pub struct Retentions(HashMap<Scope, Retention>);

impl Retentions {
    /// The rule of a scope; where none is set, one that says nothing.
    pub fn of(&self, scope: Scope) -> Retention {
        self.0.get(&scope).copied().unwrap_or_default()
    }

    /// The jobs that have a rule of their own.
    pub fn jobs(&self) -> Vec<i64> {
        let jobs = self.0.keys().filter_map(|scope| match scope {
            Scope::Job(id) => Some(*id),
            Scope::All | Scope::App(_) => None,
        });
        let mut jobs: Vec<i64> = jobs.collect();
        jobs.sort_unstable();
        jobs
    }

    /// The fewest days for which any rule keeps something; None: nothing is ever deleted.
    pub fn shortest(&self) -> Option<i32> {
        let all = self.of(Scope::All).or_inherit(DEFAULT);
        let said = self.0.values().flat_map(|rule| [rule.days, rule.failure_days]);
        said.flatten().chain([all.days, all.failure_days]).filter(|days| *days > 0).min()
    }

    /// What holds for a job of an app.
    pub fn keep(&self, app_id: i64, job_id: i64) -> EffectiveRetention {
        let all = self.of(Scope::All).or_inherit(DEFAULT);
        self.of(Scope::Job(job_id)).or_inherit(self.of(Scope::App(app_id)).or_inherit(all))
    }
}

impl RetentionStore<'_> {
    pub async fn rules(self) -> Result<Retentions> {
        let text = "SELECT scope, scope_id, days, failure_days, failures, runs FROM retention";
        let mut found = HashMap::new();
        for row in self.query(&self.read, text, vec![]).await? {
            let id = row.try_get("", "scope_id")?;
            let scope = match row.try_get::<String>("", "scope")?.as_str() {
                "app" => Scope::App(id),
                "job" => Scope::Job(id),
                _ => Scope::All,
            };
            found.insert(scope, Retention::from_query_result(&row, "")?);
        }
        Ok(Retentions(found))
    }

    /// The apps of these jobs; those that do not exist any more are left out.
    pub async fn apps_of(self, job_ids: &[i64]) -> Result<HashMap<i64, i64>> {
        let text = "SELECT id, app_id FROM job WHERE id IN ({ids})";
        Ok(self.tuples(&self.read, text, values![self.ids(job_ids)]).await?.into_iter().collect())
    }

    pub async fn of(self, scope: Scope) -> Result<Retention> {
        Ok(self.rules().await?.of(scope))
    }

    /// Sets a rule, with everything that it says and does not say.
    ///
    /// # Errors
    /// `Invalid`: a number is out of its range.
    pub async fn set(self, scope: Scope, rule: Retention, now: Millis, actor: &Actor) -> Result<()> {
        if let Some(wrong) = rule.validate().err().and_then(|wrong| wrong.into_iter().next()) {
            return Err(Error::Invalid(wrong));
        }
        let before = self.of(scope).await?;
        let (word, id) = scope.key();
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "DELETE FROM retention WHERE scope = ? AND scope_id = ?";
        self.execute(&tx, text, values![word, id]).await?;
        if rule != Retention::default() {
            let Retention { days, failure_days, failures, runs } = rule;
            let row = named![scope: word, scope_id: id, days, failure_days, failures, runs, updated_at: now];
            self.insert_row(&tx, "retention", row).await?;
        }
        let shown = |rule: Retention| json!({"days": rule.days, "failure_days": rule.failure_days, "failures": rule.failures, "runs": rule.runs});
        let detail = json!({"before": shown(before), "after": shown(rule)});
        let object = match scope {
            Scope::All => AuditObject::new(AuditObjectKind::Cluster, 0),
            Scope::App(id) => AuditObject::app(id),
            Scope::Job(id) => {
                let app_id = self.tuple(&tx, "SELECT app_id FROM job WHERE id = ?", values![id]).await?;
                AuditObject::new(AuditObjectKind::Job, id).in_app(app_id)
            }
        };
        audit.commit(tx, AuditAction::Retention, object, detail).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrower_rule_wins_where_it_says_something() {
        let rule = |days, runs| Retention { days, runs, ..Retention::default() };
        let rules = Retentions(HashMap::from_iter([
            (Scope::All, rule(Some(60), None)),
            (Scope::App(1), rule(None, Some(5))),
            (Scope::Job(7), rule(Some(0), None)),
        ]));
        assert_eq!(rules.keep(1, 7), EffectiveRetention { days: 0, runs: 5, ..DEFAULT });
        assert_eq!(rules.keep(2, 8), EffectiveRetention { days: 60, ..DEFAULT });
        assert_eq!(Retentions::default().keep(1, 7), DEFAULT);
        assert_eq!(rules.shortest(), Some(60));
        assert_eq!(Retentions::default().shortest(), Some(30));
        assert!(rule(Some(-1), None).validate().is_err() && rule(Some(3650), Some(0)).validate().is_ok());
    }
}
