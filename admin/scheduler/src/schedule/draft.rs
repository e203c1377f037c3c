//! A schedule as somebody wrote it. Reading is by hand and not by serde's tag: each error names its member, and a
//! member that belongs to another kind is refused.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::ClockChanges;
use crate::job::named;

/// A schedule that has not been checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ScheduleDraft {
    /// No schedule.
    #[default]
    None,
    /// A cron expression of six or seven fields.
    Cron {
        /// `second minute hour day-of-month month day-of-week [year]`
        expression: String,
        /// An IANA name; `UTC` if it is left out.
        timezone: String,
        /// What happens when the clocks change; `carillon` if it is left out.
        clock_changes: ClockChanges,
    },
    /// Every so many seconds.
    FixedRate {
        /// 1 to 31,536,000.
        seconds: i64,
    },
}

impl ScheduleDraft {
    /// A cron schedule under the default policy for clock changes.
    pub fn cron(expression: impl Into<String>, timezone: impl Into<String>) -> Self {
        Self::Cron {
            expression: expression.into(),
            timezone: timezone.into(),
            clock_changes: ClockChanges::default(),
        }
    }

    /// Its `kind` in the API.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Cron { .. } => "cron",
            Self::FixedRate { .. } => "fixed_rate",
        }
    }
}

/// All members of all kinds.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "schedule as an object such as {\"kind\":\"none\"}"
)]
struct Members {
    #[serde(deserialize_with = "members::kind")]
    kind: String,
    #[serde(default, deserialize_with = "members::expression")]
    expression: Option<String>,
    #[serde(default, deserialize_with = "members::timezone")]
    timezone: Option<String>,
    #[serde(default, deserialize_with = "members::clock_changes")]
    clock_changes: Option<ClockChanges>,
    #[serde(default, deserialize_with = "members::seconds")]
    seconds: Option<i64>,
}

mod members {
    super::named! {
        kind: String = "schedule.kind",
        expression: Option<String> = "schedule.expression",
        timezone: Option<String> = "schedule.timezone",
        clock_changes: Option<super::ClockChanges> = "schedule.clock_changes",
        seconds: Option<i64> = "schedule.seconds",
    }
}

impl<'de> Deserialize<'de> for ScheduleDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Members::deserialize(deserializer)?
            .draft()
            .map_err(D::Error::custom)
    }
}

impl Members {
    fn draft(self) -> Result<ScheduleDraft, String> {
        match self.kind.as_str() {
            "none" => self.only(&[]).map(|_| ScheduleDraft::None),
            "cron" => {
                let members = self.only(&["expression", "timezone", "clock_changes"])?;
                Ok(ScheduleDraft::Cron {
                    expression: members
                        .expression
                        .ok_or("schedule.expression: missing; kind cron needs it")?,
                    timezone: members.timezone.unwrap_or_else(|| "UTC".to_owned()),
                    clock_changes: members.clock_changes.unwrap_or_default(),
                })
            }
            "fixed_rate" => {
                let seconds = self.only(&["seconds"])?.seconds;
                let seconds =
                    seconds.ok_or("schedule.seconds: missing; kind fixed_rate needs it")?;
                Ok(ScheduleDraft::FixedRate { seconds })
            }
            other => Err(format!(
                "schedule.kind: `{other}` is not a kind; allowed: none, cron, fixed_rate"
            )),
        }
    }

    /// Refuses members that this kind does not have.
    fn only(self, allowed: &[&str]) -> Result<Self, String> {
        let given = [
            ("expression", self.expression.is_some()),
            ("timezone", self.timezone.is_some()),
            ("clock_changes", self.clock_changes.is_some()),
            ("seconds", self.seconds.is_some()),
        ];
        match given
            .iter()
            .find(|(name, given)| *given && !allowed.contains(name))
        {
            Some((name, _)) => Err(format!(
                "schedule.{name}: a schedule of kind {} does not have it",
                self.kind
            )),
            None => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(json: Value) -> Result<ScheduleDraft, String> {
        serde_json::from_value(json).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let draft = read(json!({"kind": "cron", "expression": "0 0 12 * * ?"})).unwrap();
        assert_eq!(draft, ScheduleDraft::cron("0 0 12 * * ?", "UTC"));
        assert_eq!(
            serde_json::to_value(&draft).unwrap(),
            json!({"kind": "cron", "expression": "0 0 12 * * ?", "timezone": "UTC", "clock_changes": "carillon"})
        );
        assert_eq!(read(json!({"kind": "none"})), Ok(ScheduleDraft::None));
        assert_eq!(
            read(json!({"kind": "fixed_rate", "seconds": 5})),
            Ok(ScheduleDraft::FixedRate { seconds: 5 })
        );
    }

    #[test]
    fn errors_name_their_member() {
        for (json, message) in [
            (
                json!({"kind": "daily"}),
                "schedule.kind: `daily` is not a kind; allowed: none, cron, fixed_rate",
            ),
            (
                json!({"kind": "cron"}),
                "schedule.expression: missing; kind cron needs it",
            ),
            (
                json!({"kind": "fixed_rate"}),
                "schedule.seconds: missing; kind fixed_rate needs it",
            ),
            (
                json!({"kind": "none", "seconds": 5}),
                "schedule.seconds: a schedule of kind none does not have it",
            ),
            (
                json!({"kind": "fixed_rate", "seconds": "5"}),
                "schedule.seconds: invalid type: string \"5\", expected i64",
            ),
            (
                json!({"kind": "cron", "expression": "* * * * * ?", "clock_changes": "java"}),
                "schedule.clock_changes: `java` is not a clock change policy; allowed: carillon, xxl",
            ),
            (
                json!("0 0 12 * * ?"),
                "invalid type: string \"0 0 12 * * ?\", expected schedule as an object such as {\"kind\":\"none\"}",
            ),
        ] {
            assert_eq!(read(json).unwrap_err(), message);
        }
        let unknown = read(json!({"kind": "none", "zone": "UTC"})).unwrap_err();
        assert!(
            unknown.starts_with("unknown field `zone`, expected one of `kind`, `expression`"),
            "{unknown}"
        );
    }
}
