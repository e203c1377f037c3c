//! Apps and jobs of a set, with the lines at which they stand.

use std::collections::BTreeMap;
use std::fmt;

use carillon_scheduler::JobDraft;
use serde_json::{Map, Value};

use super::fault::Fault;

/// What stands for parameters that an export left out. Files with it are refused: the parameters would be lost.
pub const REDACTED: &str = "<redacted>";

/// What to say of a single text that an export left out.
pub(super) const TEXT_LEFT_OUT: &str = "an export left it out; write the text itself";

/// An app that the set needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppEntry {
    pub name: String,
    /// None: it stays as it is.
    pub title: Option<String>,
}

/// A job by its app and its key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobRef {
    pub app: String,
    pub key: String,
}

impl JobRef {
    pub fn new(app: impl Into<String>, key: impl Into<String>) -> Self {
        Self { app: app.into(), key: key.into() }
    }

    /// `key` of the same app, or `app/key`.
    pub fn within(text: &str, app: &str) -> Self {
        match text.split_once('/') {
            Some((app, key)) => Self::new(app, key),
            None => Self::new(app, text),
        }
    }
}

impl fmt::Display for JobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.app, self.key)
    }
}

/// A job of the set.
#[derive(Clone, Debug)]
pub struct JobEntry {
    pub file: String,
    pub line: usize,
    /// The lines of its members, by their path: `schedule.expression`.
    pub lines: BTreeMap<String, usize>,
    /// Its definition in the form in which the server keeps it, without children, and the jobs of its nodes as `app/key`.
    pub draft: JobDraft,
    /// False: whether its schedule is in force stays as it is.
    pub says_enabled: bool,
    pub children: Vec<JobRef>,
    /// The key that it had before.
    pub moved_from: Option<String>,
}

impl JobEntry {
    pub fn reference(&self) -> JobRef {
        JobRef::new(&self.draft.app, &self.draft.key)
    }

    /// The jobs of its nodes, each with the name of the node.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, JobRef)> {
        let nodes = self.draft.workflow.iter().flat_map(|workflow| &workflow.nodes);
        nodes.filter_map(|(name, node)| match node.job.app_and_key()? {
            (Some(app), key) => Some((name.as_str(), JobRef::new(app, key))),
            (None, _) => None,
        })
    }

    /// The jobs that it starts: its children and the jobs of its nodes.
    pub fn starts(&self) -> Vec<JobRef> {
        self.children.iter().cloned().chain(self.nodes().map(|(_, job)| job)).collect()
    }

    /// A fault of one of its members, at the line of the member or of what contains it.
    pub fn fault(&self, member: &str, message: impl Into<String>) -> Fault {
        fault_at(&self.file, self.line, &self.lines, &self.reference().to_string(), member, message.into())
    }

    /// As the API takes it, without children.
    pub fn body(&self) -> Map<String, Value> {
        match serde_json::to_value(&self.draft) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        }
    }
}

pub(super) fn fault_at(
    file: &str,
    line: usize,
    lines: &BTreeMap<String, usize>,
    job: &str,
    member: &str,
    message: String,
) -> Fault {
    let mut path = member;
    let line = loop {
        if let Some(line) = lines.get(path) {
            break *line;
        }
        match path.rfind(['.', '[']) {
            Some(end) => path = &path[..end],
            None => break line,
        }
    };
    let member = match member {
        "" => job.to_owned(),
        member => format!("{job}: {member}"),
    };
    Fault { file: file.to_owned(), line, member, message }
}
