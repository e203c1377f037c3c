//! What a server has: the answers of its API.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::workflow::{NodeJob, WorkflowDraft};
use carillon_scheduler::{JobDraft, LimitDraft};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::document::{JobRef, LimitRef};

/// An app of the server.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct LiveApp {
    pub id: i64,
    pub name: String,
    pub title: String,
}

/// A limit of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveLimit {
    pub id: i64,
    pub version: i64,
    pub draft: LimitDraft,
}

impl LiveLimit {
    /// # Errors
    /// The answer has a member that this program does not know, or lacks one.
    pub fn from_answer(mut answer: Map<String, Value>) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Stored {
            id: i64,
            version: i64,
        }
        const STORED: [&str; 5] = ["id", "version", "taken", "created_at", "updated_at"];
        let stored = STORED.into_iter().filter_map(|name| answer.remove_entry(name)).collect();
        let Stored { id, version } = serde_json::from_value(Value::Object(stored))?;
        Ok(Self { id, version, draft: serde_json::from_value(Value::Object(answer))? })
    }
}

/// A job of the server.
#[derive(Clone, Debug)]
pub struct LiveJob {
    pub id: i64,
    pub revision: i64,
    /// With the ids of its children and of the jobs of its nodes.
    pub draft: JobDraft,
    /// Of `max_fires`.
    pub fires_left: Option<u32>,
    /// Why and by whom it is paused, as far as it was noted.
    pub pause: Option<Pause>,
}

/// Why a job is paused.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Pause {
    pub note: String,
    pub author: String,
    pub from: String,
}

/// The members of an answer that are no part of the definition.
#[derive(Deserialize)]
struct Stored {
    id: i64,
    revision: i64,
    fires_left: Option<u32>,
    pause: Option<Pause>,
}

const STORED: [&str; 8] =
    ["id", "revision", "fires_left", "pause", "paused_reason", "next_fire_at", "created_at", "updated_at"];

impl LiveJob {
    /// # Errors
    /// The answer has a member that this program does not know, or lacks one.
    pub fn from_answer(mut answer: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let stored = STORED.into_iter().filter_map(|name| answer.remove_entry(name)).collect();
        let Stored { id, revision, fires_left, pause } = serde_json::from_value(Value::Object(stored))?;
        let draft = serde_json::from_value(Value::Object(answer))?;
        Ok(Self { id, revision, draft, fires_left, pause })
    }

    /// None: it has no key.
    pub fn reference(&self) -> Option<JobRef> {
        (!self.draft.key.is_empty()).then(|| JobRef::new(&self.draft.app, &self.draft.key))
    }

    /// Its children and the jobs of its nodes, by id.
    pub fn started_ids(&self) -> BTreeSet<i64> {
        let nodes = self.draft.workflow.iter().flat_map(|workflow| &workflow.nodes);
        let of_node = nodes.filter_map(|(_, node)| node.job.id());
        self.draft.children.iter().copied().chain(of_node).collect()
    }
}

/// All that a token may see of a server.
#[derive(Clone, Debug, Default)]
pub struct Live {
    pub apps: Vec<LiveApp>,
    pub limits: Vec<LiveLimit>,
    jobs: BTreeMap<i64, LiveJob>,
    ids: BTreeMap<JobRef, i64>,
}

impl Live {
    pub fn new(apps: Vec<LiveApp>, jobs: impl IntoIterator<Item = LiveJob>) -> Self {
        let jobs: BTreeMap<i64, LiveJob> = jobs.into_iter().map(|job| (job.id, job)).collect();
        let ids = jobs.values().filter_map(|job| Some((job.reference()?, job.id))).collect();
        Self { apps, limits: vec![], jobs, ids }
    }

    pub fn with_limits(self, limits: Vec<LiveLimit>) -> Self {
        Self { limits, ..self }
    }

    /// By id, ascending.
    pub fn jobs(&self) -> impl Iterator<Item = &LiveJob> {
        self.jobs.values()
    }

    /// By id, ascending. Their keys stay as they are.
    pub fn jobs_mut(&mut self) -> impl Iterator<Item = &mut LiveJob> {
        self.jobs.values_mut()
    }

    pub fn by_id(&self, id: i64) -> Option<&LiveJob> {
        self.jobs.get(&id)
    }

    pub fn by_reference(&self, reference: &JobRef) -> Option<&LiveJob> {
        self.jobs.get(self.ids.get(reference)?)
    }

    /// A graph with the keys of its jobs, as `name` writes them, and the ids of jobs without a key, which stay numbers.
    pub fn with_keys(&self, workflow: &WorkflowDraft, name: impl Fn(JobRef) -> String) -> (WorkflowDraft, Vec<i64>) {
        let (mut workflow, mut unnamed) = (workflow.clone(), vec![]);
        for (_, node) in &mut workflow.nodes {
            let NodeJob::Id(id) = node.job else { continue };
            match self.by_id(id).and_then(LiveJob::reference) {
                Some(job) => node.job = NodeJob::Key(name(job)),
                None => unnamed.push(id),
            }
        }
        (workflow, unnamed)
    }

    pub fn limit(&self, reference: &LimitRef) -> Option<&LiveLimit> {
        self.limits.iter().find(|limit| LimitRef::of(&limit.draft) == *reference)
    }

    pub fn app(&self, name: &str) -> Option<&LiveApp> {
        self.apps.iter().find(|app| app.name == name)
    }
}
