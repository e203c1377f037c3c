//! A workflow as the API, a file or a form gives it.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::condition::Test;
use super::node_list;
use crate::words::{first_is_default, words};

words! {
    /// The end of a parent at which an edge is taken.
    pub enum On: "kind of edge" {
        /// It succeeded.
        Success = 0 "success",
        /// It failed.
        Failure = 1 "failure",
        /// It ended, or could not run because of a failure.
        Always = 2 "always",
    }
}

words! {
    /// How many edges into a node are needed. Edges of branches that were not taken do not count.
    pub enum Join: "join" {
        /// It starts when all parents have ended, and no failure is in the way.
        All = 0 "all",
        /// It starts with the first edge that is taken.
        Any = 1 "any",
    }
}

words! {
    /// What the failure of a node means for the workflow.
    pub enum IfFailed: "reaction to a failure" {
        /// The workflow ends as failed; other branches go on.
        Fail = 0 "fail",
        /// It counts as a success without a result.
        Ignore = 1 "ignore",
        /// As `fail`, and nothing new starts except behind `failure` and `always`.
        Stop = 2 "stop",
    }
}

first_is_default!(On, Join, IfFailed);

/// A workflow: its nodes and what it returns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a workflow as an object with `nodes`")]
pub struct WorkflowDraft {
    /// The template of its result. None: the result of the last node, or an object of the last nodes' results by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The nodes by name, in the order of the definition, which numbers them.
    #[serde(with = "node_list")]
    pub nodes: Vec<(String, NodeDraft)>,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a node as an object with `job`")]
pub struct NodeDraft {
    /// The job that it runs.
    pub job: NodeJob,
    /// The template of its parameters. None: those of the job; if it has none, the result of the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<String>,
    /// The template of a JSON list, in place of `params`: a part for each member, with the member as its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<String>,
    /// The edges into it. Empty: it starts at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<AfterDraft>,
    /// How many of them are needed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub join: Join,
    /// What its failure means.
    #[serde(default, skip_serializing_if = "is_default")]
    pub if_failed: IfFailed,
}

impl NodeDraft {
    /// A node that starts at once, with the parameters of its job.
    pub fn new(job: NodeJob) -> Self {
        Self { job, params: None, for_each: None, after: vec![], join: Join::All, if_failed: IfFailed::Fail }
    }
}

/// The job of a node: `17`, `"extract-orders"` (a key in the workflow's app) or `"app/key"`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum NodeJob {
    /// By number.
    Id(i64),
    /// By key, with or without its app.
    Key(String),
}

impl NodeJob {
    /// None: it is named by its key.
    pub const fn id(&self) -> Option<i64> {
        match self {
            Self::Id(id) => Some(*id),
            Self::Key(_) => None,
        }
    }

    /// The app, if the text names one, and the key. None: it is a number.
    pub fn app_and_key(&self) -> Option<(Option<&str>, &str)> {
        match self {
            Self::Id(_) => None,
            Self::Key(text) => Some(text.split_once('/').map_or((None, text.as_str()), |(app, key)| (Some(app), key))),
        }
    }
}

impl fmt::Display for NodeJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Key(key) => f.pad(key),
        }
    }
}

impl<'de> Deserialize<'de> for NodeJob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeJobVisitor)
    }
}

struct NodeJobVisitor;

impl Visitor<'_> for NodeJobVisitor {
    type Value = NodeJob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a job's number, its key or `app/key`")
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<NodeJob, E> {
        Ok(NodeJob::Id(id))
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<NodeJob, E> {
        // A number that is too large is refused by the check, with its range.
        Ok(NodeJob::Id(i64::try_from(id).unwrap_or(i64::MAX)))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<NodeJob, E> {
        Ok(NodeJob::Key(key.to_owned()))
    }
}

/// An edge into a node: the name of the parent, or an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterDraft {
    /// The parent.
    pub node: String,
    /// The end of the parent at which the edge is taken.
    pub on: On,
    /// Tests of the parent's result, or of the error text of one that failed. All must hold.
    pub when: Vec<Test>,
}

impl AfterDraft {
    /// An edge that is taken when the parent succeeds.
    pub fn new(node: impl Into<String>) -> Self {
        Self { node: node.into(), on: On::Success, when: vec![] }
    }
}

/// An edge as an object.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AfterObject {
    node: String,
    #[serde(default, skip_serializing_if = "is_default")]
    on: On,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    when: Vec<Test>,
}

impl Serialize for AfterDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.on, self.when.as_slice()) {
            (On::Success, []) => serializer.serialize_str(&self.node),
            _ => AfterObject { node: self.node.clone(), on: self.on, when: self.when.clone() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AfterDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AfterVisitor)
    }
}

struct AfterVisitor;

impl<'de> Visitor<'de> for AfterVisitor {
    type Value = AfterDraft;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a node, or an object with `node`")
    }

    fn visit_str<E: Error>(self, node: &str) -> Result<AfterDraft, E> {
        Ok(AfterDraft::new(node))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<AfterDraft, A::Error> {
        let AfterObject { node, on, when } = AfterObject::deserialize(MapAccessDeserializer::new(members))?;
        Ok(AfterDraft { node, on, when })
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
