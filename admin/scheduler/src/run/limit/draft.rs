use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::checks::{check_line, check_number};
use crate::field_error::FieldError;
use crate::job::validate_app_name;
use crate::run::limit::name::validate_limit_name;

/// Range of the number of runs.
pub const MAX_RUNS: RangeInclusive<i64> = 1..=10_000;
/// Maximum number of characters of the path of a key.
pub const KEY_CHARS: usize = 200;
/// Maximum number of characters of a description.
pub const DESCRIPTION_CHARS: usize = 1_000;

/// A limit as the API or a form gives it. Only `name` and `max` are required. Unknown members are refused by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a limit as an object")]
pub struct LimitDraft {
    /// Jobs name the limit by this; it does not change.
    pub name: String,
    /// The app whose jobs may use it; none: it is shared by the jobs of all apps.
    #[serde(default)]
    pub app: Option<String>,
    /// How many runs may be at work together, with a key for each of its values.
    pub max: i32,
    /// The path of a member of the parameters, as `customer.id`: each of its values has slots of its own. Empty: there is one set of slots.
    #[serde(default)]
    pub key: String,
    /// It holds for all jobs of its app, also for those that do not name it.
    #[serde(default)]
    pub all_jobs: bool,
    /// What it is for, for users.
    #[serde(default)]
    pub description: String,
}

impl LimitDraft {
    /// A limit shared by all apps, without a key.
    pub fn new(name: impl Into<String>, max: i32) -> Self {
        Self { name: name.into(), app: None, max, key: String::new(), all_jobs: false, description: String::new() }
    }

    /// Checks every member.
    ///
    /// # Errors
    /// One for each member that is wrong, in the order of the members.
    pub fn validate(&self) -> Result<(), Vec<FieldError>> {
        let app = self.app.as_deref().map_or(Ok(()), validate_app_name);
        let all_jobs = match self.all_jobs && self.app.is_none() {
            true => Err("needs an app: a limit that is shared holds for the jobs that name it".to_owned()),
            false => Ok(()),
        };
        let description = match self.description.chars().count() {
            count if count > DESCRIPTION_CHARS => {
                Err(format!("has {count} characters; at most {DESCRIPTION_CHARS} are allowed"))
            }
            _ if self.description.contains('\0') => Err("must not contain the character NUL".to_owned()),
            _ => Ok(()),
        };
        let checks = [
            ("name", validate_limit_name(&self.name)),
            ("app", app),
            ("max", check_number(self.max.into(), &MAX_RUNS, " runs")),
            ("key", check_path(&self.key)),
            ("all_jobs", all_jobs),
            ("description", description),
        ];
        let errors: Vec<FieldError> =
            checks.into_iter().filter_map(|(field, result)| Some(FieldError::new(field, result.err()?))).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

fn check_path(path: &str) -> Result<(), String> {
    if path.is_empty() {
        return Ok(());
    }
    check_line(path, 1..=KEY_CHARS)?;
    match path.split('.').any(|name| name.is_empty() || name.trim() != name) {
        true => Err("must be names with dots between them, as `customer.id`".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(draft: &LimitDraft) -> Vec<String> {
        draft.validate().err().unwrap_or_default().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn each_member_is_checked() {
        let good = LimitDraft { key: "customer.id".to_owned(), ..LimitDraft::new("db-export", 2) };
        assert_eq!(faults(&good), [""; 0]);
        let wrong = LimitDraft {
            name: "db export".to_owned(),
            app: Some("x".to_owned()),
            max: 0,
            key: "a..b".to_owned(),
            description: "d".repeat(1_001),
            ..good.clone()
        };
        assert_eq!(faults(&wrong), ["name", "app", "max", "key", "description"]);
        assert_eq!(faults(&LimitDraft { all_jobs: true, ..good.clone() }), ["all_jobs"]);
        assert_eq!(faults(&LimitDraft { all_jobs: true, app: Some("billing".to_owned()), ..good }), [""; 0]);
    }
}
