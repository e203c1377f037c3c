//! From the members of a limit to its checked definition.

use std::collections::BTreeMap;
use std::fmt;

use carillon_scheduler::{FieldError, LimitDraft};
use serde_json::{Map, Value, json};

use super::entry::fault_at;
use super::fault::Fault;
use super::members::to_json;
use crate::yaml::{Content, Node};

/// A limit by its app and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LimitRef {
    /// None: it is shared by the jobs of all apps.
    pub app: Option<String>,
    pub name: String,
}

impl LimitRef {
    pub fn of(limit: &LimitDraft) -> Self {
        Self { app: limit.app.clone(), name: limit.name.clone() }
    }
}

impl fmt::Display for LimitRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.app {
            Some(app) => write!(f, "limit {app}/{}", self.name),
            None => write!(f, "limit {}", self.name),
        }
    }
}

/// A limit that the set needs.
#[derive(Clone, Debug)]
pub struct LimitEntry {
    pub file: String,
    pub line: usize,
    /// The lines of its members.
    pub lines: BTreeMap<String, usize>,
    pub draft: LimitDraft,
}

impl LimitEntry {
    pub fn reference(&self) -> LimitRef {
        LimitRef::of(&self.draft)
    }

    /// A fault of one of its members, at the line of the member.
    pub fn fault(&self, member: &str, message: impl Into<String>) -> Fault {
        fault_at(&self.file, self.line, &self.lines, &self.reference().to_string(), member, message.into())
    }
}

/// The limit at this place of the list.
pub fn read(file: &str, node: &Node, index: usize) -> Result<LimitEntry, Vec<Fault>> {
    let place = format!("limits[{index}]");
    let Content::Map(_) = node.content else {
        let message = format!("must be a limit as an object, not {}", node.kind());
        return Err(vec![Fault { file: file.to_owned(), line: node.line, member: place, message }]);
    };
    let mut lines = BTreeMap::new();
    let Value::Object(members) = to_json(node, "", &mut lines) else { return Err(vec![]) };
    let lines: BTreeMap<String, usize> =
        lines.into_iter().map(|(path, line)| (path.trim_start_matches('.').to_owned(), line)).collect();
    let fault = |FieldError { field, message }| fault_at(file, node.line, &lines, &place, &field, message);
    match draft(members) {
        Ok(draft) => Ok(LimitEntry { file: file.to_owned(), line: node.line, lines, draft }),
        Err(faults) => Err(faults.into_iter().map(fault).collect()),
    }
}

fn draft(members: Map<String, Value>) -> Result<LimitDraft, Vec<FieldError>> {
    let missing: Vec<FieldError> = ["name", "max"]
        .into_iter()
        .filter(|name| !members.contains_key(*name))
        .map(|name| FieldError::new(name, "is missing; it is required"))
        .collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let draft: LimitDraft = serde_path_to_error::deserialize(Value::Object(members)).map_err(|error| {
        let (path, said) = (error.path().to_string(), error.inner().to_string());
        let is_unknown = said.starts_with("unknown field");
        vec![FieldError::new(path, if is_unknown { "is no member of a limit".to_owned() } else { said })]
    })?;
    draft.validate()?;
    Ok(LimitDraft { description: draft.description.trim().to_owned(), ..draft })
}

/// The members of a limit that a file writes: those that differ from a new limit.
pub fn without_defaults(limit: &LimitDraft) -> Map<String, Value> {
    let members = |limit: &LimitDraft| match json!(limit) {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let default = members(&LimitDraft::new("", 0));
    let mut members = members(limit);
    members.retain(|name, value| default.get(name) != Some(value));
    members
}
