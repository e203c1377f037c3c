//! The definitions that a job has had, each with what it changed: to look at, and to go back to.

use serde_json::{Map, Value};

use crate::audit::entry::difference;
use crate::error::Result;
use crate::job::audit_snapshot::STORED_APART;
use crate::job::history::{Change, CurrentDefinition, undo};
use crate::job::stored_job::Job;
use crate::views::JobStore;

/// A change of a job, and the definition that it made.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// None: the entry does not say it; it was written before revisions were recorded.
    pub number: Option<i64>,
    pub change: Change,
    /// The members that it changed, as they were and as they became.
    pub before: Value,
    pub after: Value,
    /// The whole definition. None: a later change has left no entry, so it is not known.
    members: Option<Map<String, Value>>,
}

impl Revision {
    pub fn is_known(&self) -> bool {
        self.members.is_some()
    }

    /// The name of the app that it belonged to.
    fn app(&self) -> Option<&str> {
        self.members.as_ref()?.get("app")?.as_str()
    }

    /// What the job would change if it had this definition again: the members `before`, as they are, and `after`. None: the
    /// definition is not known.
    pub fn difference_from(&self, job: &Job) -> Option<Value> {
        let restored = |members: &Map<String, Value>| {
            let members =
                members.iter().filter(|(name, _)| *name != "enabled" && !STORED_APART.contains(&name.as_str()));
            members.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>()
        };
        let then = restored(self.members.as_ref()?);
        Some(difference(&restored(&CurrentDefinition::of(job).members).into(), &then.into()))
    }

    /// The whole definition, as the audit keeps it.
    pub(crate) fn members(&self) -> Option<&Map<String, Value>> {
        self.members.as_ref()
    }
}

impl JobStore<'_> {
    /// The changes of a job, the newest first, as far as the audit reaches; at most a thousand. It ends where the job came from an
    /// app that is not among `apps`; None: all apps may be seen.
    pub async fn revisions(self, job: &Job, apps: Option<&[String]>) -> Result<Vec<Revision>> {
        let now = CurrentDefinition::of(job);
        let (mut members, mut number) = (now.members, now.revision);
        let mut revisions = vec![];
        for line in self.changes_since(job.id, 0).await? {
            // Another change has left no line: from here on nothing is known.
            number = number.filter(|_| line.revision() == number);
            let revision = Revision {
                number: line.revision(),
                change: line.change.clone(),
                before: line.detail["before"].clone(),
                after: line.detail["after"].clone(),
                members: number.map(|_| members.clone()),
            };
            let is_visible = |name: &str| apps.is_none_or(|apps| apps.iter().any(|app| app == name));
            let app_before = line.detail["before"]["app"].as_str().filter(|name| !is_visible(name));
            let is_hidden = match revision.app() {
                Some(name) => !is_visible(name),
                None => apps.is_some(),
            };
            if is_hidden {
                break;
            }
            revisions.push(revision);
            if let (Some(_), Some(last)) = (app_before, revisions.last_mut()) {
                last.before = Value::Null;
                break;
            }
            undo(&mut members, &line.detail);
            number = number.map(|number| number - 1);
        }
        Ok(revisions)
    }
}
