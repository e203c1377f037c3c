//! Which definition of a job was in force when, read from the audit backwards from the job's row.
//!
//! Each change writes the members that it changed, before and after, under the revision that it made. So every earlier
//! definition is known as far back as the chain of revisions is whole.

use std::panic::{AssertUnwindSafe, catch_unwind};

use carillon_scheduler::{AuditAction, Durability, Millis, Schedule, ScheduleContext, ScheduleDraft};
use serde_json::{Map, Value};

use crate::calendar::pinned::Calendars;
use crate::error::Result;
use crate::job::audit_snapshot::audit_snapshot;
use crate::job::stored_job::Job;
use crate::views::JobStore;

/// A span of time in which one definition was in force.
#[derive(Debug)]
pub struct DefinitionVersion {
    /// For instants after this …
    pub from: Millis,
    /// … up to and including this; None: still.
    pub to: Option<Millis>,
    /// None: it began before what was asked for.
    pub begun_by: Option<Change>,
    /// The revision of the definition; None: not known.
    pub revision: Option<i64>,
    pub rules: VersionRules,
}

/// What ended one definition and began another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub at: Millis,
    pub actor: String,
    /// `create`, `update`, `calendars`, `zone_data`, `enable`, `disable`, `pause`.
    pub action: String,
}

/// What is known of a definition.
#[derive(Debug)]
pub enum VersionRules {
    Known {
        schedule: Box<Schedule>,
        /// Its instants are recorded.
        enabled: bool,
        /// An executor fires them by itself, without records.
        is_local: bool,
        calendars: Calendars,
    },
    /// The definition is on record, and cannot be planned.
    Broken { enabled: bool },
    /// The records do not reach so far back, it was planned with other time zone data, or a calendar of its is gone.
    Unknown,
}

impl DefinitionVersion {
    pub fn is_enabled(&self) -> bool {
        match self.rules {
            VersionRules::Known { enabled, .. } | VersionRules::Broken { enabled } => enabled,
            VersionRules::Unknown => false,
        }
    }

    /// Has it the same instants as another one, for certain?
    pub fn is_like(&self, other: &Self) -> bool {
        match (&self.rules, &other.rules) {
            (
                VersionRules::Known { schedule: one, calendars: these, .. },
                VersionRules::Known { schedule: two, calendars: those, .. },
            ) => {
                let facts = |it: &Schedule| (it.draft(), it.anchor_at(), it.spread_offset_seconds());
                facts(one) == facts(two) && these == those
            }
            _ => false,
        }
    }

    /// May this be one of its instants?
    pub fn may_include(&self, at: Millis) -> bool {
        match self.schedule().filter(|schedule| !schedule.is_delay()) {
            Some(schedule) => {
                let says = || schedule.next_after(at - 1) == Some(at);
                catch_unwind(AssertUnwindSafe(says)).unwrap_or(true)
            }
            None => true,
        }
    }

    pub fn schedule(&self) -> Option<&Schedule> {
        match &self.rules {
            VersionRules::Known { schedule, .. } => Some(schedule),
            _ => None,
        }
    }
}

/// The definition of a job from which all earlier ones follow.
pub(crate) struct CurrentDefinition {
    pub id: i64,
    /// None: as its last change says.
    pub revision: Option<i64>,
    pub members: Map<String, Value>,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl CurrentDefinition {
    pub(crate) fn of(job: &Job) -> Self {
        Self {
            id: job.id,
            revision: Some(job.revision),
            members: members(job),
            created_at: job.created_at,
            updated_at: job.updated_at,
        }
    }
}

/// More changes than this within the time that is looked at are not followed.
const MOST_CHANGES: u32 = 1000;

/// A line of the audit that changed a job.
pub(crate) struct AuditChange {
    pub change: Change,
    pub detail: Value,
}

impl AuditChange {
    /// The revision that this entry created.
    pub fn revision(&self) -> Option<i64> {
        self.detail["revision"].as_i64()
    }
}

impl JobStore<'_> {
    /// The definitions of a job since then, the oldest first. There is always one.
    pub async fn definition_versions(self, job: &Job, since: Millis) -> Result<Vec<DefinitionVersion>> {
        self.versions_before(&CurrentDefinition::of(job), since).await
    }

    /// Backwards from the newest definition.
    pub(crate) async fn versions_before(
        self,
        job: &CurrentDefinition,
        since: Millis,
    ) -> Result<Vec<DefinitionVersion>> {
        let lines = self.changes_since(job.id, since).await?;
        let mut members = job.members.clone();
        let newest = lines.first().and_then(AuditChange::revision);
        let mut revision = job.revision.or(newest);
        let (mut eras, mut to) = (vec![], None);
        if lines.first().map(AuditChange::revision) != Some(revision) && job.updated_at > since {
            // Its last change has left no line; the row itself says when it was.
            let rules = self.rules(Some(&members)).await?;
            eras.push(DefinitionVersion { from: job.updated_at, to, begun_by: None, revision, rules });
            (to, revision) = (Some(job.updated_at), None);
        }
        for line in lines {
            // Another change has left no line: from here on nothing is known.
            revision = revision.filter(|_| line.revision() == revision);
            let rules = self.rules(revision.map(|_| &members)).await?;
            let begun_by = Some(line.change.clone());
            eras.push(DefinitionVersion { from: line.change.at, to, begun_by, revision, rules });
            to = Some(line.change.at);
            if line.change.action == AuditAction::Create.as_str() {
                eras.reverse();
                return Ok(eras);
            }
            undo(&mut members, &line.detail);
            // Which instants the data of before gave is not on record.
            let is_same_data = line.change.action != AuditAction::ZoneData.as_str();
            revision = revision.filter(|_| is_same_data).map(|revision| revision - 1);
        }
        let rules = self.rules(revision.map(|_| &members)).await?;
        eras.push(DefinitionVersion { from: since.max(job.created_at), to, begun_by: None, revision, rules });
        eras.reverse();
        Ok(eras)
    }

    /// The newest first.
    pub(crate) async fn changes_since(self, job_id: i64, since: Millis) -> Result<Vec<AuditChange>> {
        let text = "SELECT at, actor, action, detail FROM audit WHERE object = 'job' AND object_id = ? AND at > ? \
                    AND action IN ({action.create}, {action.update}, {action.calendars}, {action.zone_data}, {action.enable}, {action.disable}, {action.pause}) ORDER BY at DESC LIMIT ?";
        let values = values![job_id, since, i64::from(MOST_CHANGES)];
        let line = |(at, actor, action, detail): (Millis, String, String, String)| AuditChange {
            change: Change { at, actor, action },
            detail: serde_json::from_str(&detail).unwrap_or_default(),
        };
        let mut lines: Vec<AuditChange> = self.tuples(&self.read, text, values).await?.into_iter().map(line).collect();
        // Two changes may lie in one millisecond; their revisions show which was the later.
        lines.sort_by_key(|line| std::cmp::Reverse((line.change.at, line.detail["revision"].as_i64())));
        Ok(lines)
    }

    async fn rules(self, members: Option<&Map<String, Value>>) -> Result<VersionRules> {
        let Some(members) = members else {
            return Ok(VersionRules::Unknown);
        };
        let member = |name: &str| members.get(name).cloned().unwrap_or_default();
        let Ok(draft) = serde_json::from_value::<ScheduleDraft>(member("schedule")) else {
            return Ok(VersionRules::Unknown);
        };
        // The fires of a best-effort job have no records.
        let is_durable = member("durability").as_str() != Some(Durability::BestEffort.as_str());
        let is_enabled = member("enabled").as_bool().unwrap_or(false);
        let (enabled, is_local) = (is_enabled && is_durable, is_enabled && !is_durable);
        let Some(calendars) = self.calendars_then(&draft, &member("calendar_versions")).await? else {
            return Ok(VersionRules::Unknown);
        };
        let facts = ScheduleContext {
            anchor_at: member("anchor_at").as_i64().unwrap_or_default(),
            spread_offset_seconds: member("spread_offset").as_u64().and_then(|it| it.try_into().ok()).unwrap_or(0),
            calendars: calendars.list(),
        };
        // What was refused or panicked when it was planned does so here.
        let parsed = catch_unwind(AssertUnwindSafe(|| Schedule::parse(&draft, &facts)));
        Ok(match parsed {
            Ok(Ok(schedule)) => {
                let calendars = calendars.clone();
                VersionRules::Known { schedule: Box::new(schedule), calendars, enabled, is_local }
            }
            _ => VersionRules::Broken { enabled },
        })
    }

    /// The calendars that a definition used, in its versions; None: one of them is gone.
    async fn calendars_then(self, draft: &ScheduleDraft, versions: &Value) -> Result<Option<Calendars>> {
        let mut found = Calendars::default();
        for name in &draft.calendars {
            let text = "SELECT id FROM calendar WHERE name = ?";
            let id: Option<i64> = self.tuple(&self.read, text, values![name.as_str()]).await?;
            let (Some(id), Some(version)) = (id, versions[name].as_i64()) else {
                return Ok(None);
            };
            let key = (id, version);
            found.push(key, self.calendars().calendar_version(&self.read, key).await?);
        }
        Ok(Some(found))
    }
}

/// What the audit would say of the job as it is.
fn members(job: &Job) -> Map<String, Value> {
    match audit_snapshot(job) {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Back to what it was before a change.
pub(crate) fn undo(members: &mut Map<String, Value>, detail: &Value) {
    let part = |name: &str| detail[name].as_object().cloned().unwrap_or_default();
    for (name, _) in part("after") {
        members.remove(&name);
    }
    members.extend(part("before"));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_undone() {
        let mut members = json!({"name": "two", "enabled": true, "new": 1}).as_object().cloned().unwrap();
        undo(
            &mut members,
            &json!({"before": {"name": "one", "old": 2}, "after": {"name": "two", "new": 1}, "revision": 3}),
        );
        assert_eq!(Value::from(members), json!({"name": "one", "enabled": true, "old": 2}));
    }
}
