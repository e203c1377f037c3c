//! The parts of a plan.

use serde::Serialize;
use serde_json::{Map, Value};

use super::diff::Difference;
use super::instants::InstantChange;
use crate::document::{Fault, JobEntry, JobRef, LimitEntry};

/// All changes, in the order in which they are made.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub apps: Vec<AppChange>,
    /// Limits are created and changed, never deleted: no set owns them.
    pub limits: Vec<LimitChange>,
    pub creates: Vec<JobChange>,
    pub updates: Vec<JobChange>,
    pub deletes: Vec<JobChange>,
    /// Jobs of the files that are as they should be.
    pub unchanged: usize,
    /// Jobs of the set on the server, before the changes.
    pub owned: usize,
    /// Jobs of the set that the files do not have, and that stay because nothing is pruned.
    pub left_over: Vec<JobRef>,
    /// Jobs that are paused though the files do not say so. Their pause stays.
    pub paused: Vec<(JobRef, String)>,
}

impl Plan {
    /// Nothing has to be done.
    pub fn is_empty(&self) -> bool {
        self.apps.is_empty() && self.limits.is_empty() && self.jobs().next().is_none()
    }

    pub fn jobs(&self) -> impl Iterator<Item = &JobChange> {
        self.creates.iter().chain(&self.updates).chain(&self.deletes)
    }

    pub fn jobs_mut(&mut self) -> impl Iterator<Item = &mut JobChange> {
        self.creates.iter_mut().chain(&mut self.updates).chain(&mut self.deletes)
    }

    /// The number of single changes.
    pub fn len(&self) -> usize {
        self.apps.len() + self.limits.len() + self.jobs().count()
    }
}

/// An app that is created, or gets another title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppChange {
    /// None: it is created.
    #[serde(skip)]
    pub id: Option<i64>,
    pub name: String,
    pub title: Option<String>,
}

/// A limit that is created, or gets other members.
#[derive(Clone, Debug)]
pub struct LimitChange {
    /// Id and version of the limit on the server; None: it is created.
    pub before: Option<(i64, i64)>,
    pub differences: Vec<Difference>,
    /// What the file says.
    pub entry: LimitEntry,
}

/// What becomes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Create,
    Update,
    Delete,
}

impl Change {
    pub const fn sign(self) -> char {
        match self {
            Self::Create => '+',
            Self::Update => '~',
            Self::Delete => '-',
        }
    }
}

/// A job that changes.
#[derive(Clone, Debug)]
pub struct JobChange {
    pub change: Change,
    pub reference: JobRef,
    pub name: String,
    /// Id and revision of the job on the server.
    pub before: Option<(i64, i64)>,
    /// What the API takes, without children; None of a deletion.
    pub body: Option<Map<String, Value>>,
    pub children: Vec<JobRef>,
    pub differences: Vec<Difference>,
    /// None: the instants stay, or are not known.
    pub instants: Option<InstantChange>,
    /// For faults that the server finds.
    pub entry: Option<JobEntry>,
}

impl JobChange {
    /// The jobs that it starts, which have to be there before it.
    pub fn starts(&self) -> Vec<JobRef> {
        self.entry.as_ref().map(JobEntry::starts).unwrap_or_default()
    }

    /// Whether the instants of its schedule may differ.
    pub fn moves_instants(&self) -> bool {
        let is_of_schedule = |difference: &Difference| {
            difference.member == "enabled" || difference.member.split('.').next() == Some("schedule")
        };
        self.change != Change::Update || self.differences.iter().any(is_of_schedule)
    }

    /// A fault that the server found in a member.
    pub fn fault(&self, member: &str, message: &str) -> Option<Fault> {
        Some(self.entry.as_ref()?.fault(member, message))
    }
}
