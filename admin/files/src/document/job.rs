//! From the members of a job to its checked definition.

use std::collections::BTreeMap;

use carillon_scheduler::{FieldError, JobDraft, ScheduleContext, ScheduleDraft, ScheduleInput};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::entry::{JobEntry, JobRef, REDACTED, TEXT_LEFT_OUT, fault_at};
use super::fault::Fault;
use super::members::to_json;
use super::workflow;
use crate::yaml::{Content, Node};

const LEFT_OUT: &str = "an export left them out; write the parameters themselves";

/// More than a job has members.
const MOST_FAULTS: usize = 60;

/// A job of the set `set`.
pub fn read(file: &str, node: &Node, index: usize, set: &str) -> Result<JobEntry, Vec<Fault>> {
    let Content::Map(_) = node.content else {
        let message = format!("must be a job as an object, not {}", node.kind());
        return Err(vec![Fault { file: file.to_owned(), line: node.line, member: format!("jobs[{index}]"), message }]);
    };
    let mut lines = BTreeMap::new();
    let Value::Object(members) = to_json(node, "", &mut lines) else { return Err(vec![]) };
    let lines: BTreeMap<String, usize> =
        lines.into_iter().map(|(path, line)| (path.trim_start_matches('.').to_owned(), line)).collect();
    let job = label(&members, index);
    let mut reader = Reader { faults: vec![] };
    let read = reader.read(members, set);
    let place = |FieldError { field, message }| fault_at(file, node.line, &lines, &job, &field, message);
    match read {
        Some(read) if reader.faults.is_empty() => Ok(JobEntry {
            file: file.to_owned(),
            line: node.line,
            draft: read.draft,
            says_enabled: read.says_enabled,
            children: read.children,
            moved_from: read.moved_from,
            lines,
        }),
        _ => Err(reader.faults.into_iter().map(place).collect()),
    }
}

/// How errors call the job.
fn label(members: &Map<String, Value>, index: usize) -> String {
    match (members.get("app").and_then(Value::as_str), members.get("key").and_then(Value::as_str)) {
        (Some(app), Some(key)) => format!("{app}/{key}"),
        (_, Some(key)) => key.to_owned(),
        _ => format!("jobs[{index}]"),
    }
}

struct Read {
    draft: JobDraft,
    says_enabled: bool,
    children: Vec<JobRef>,
    moved_from: Option<String>,
}

struct Reader {
    faults: Vec<FieldError>,
}

impl Reader {
    fn fault(&mut self, member: &str, message: impl Into<String>) {
        self.faults.push(FieldError::new(member, message));
    }

    fn read(&mut self, mut members: Map<String, Value>, set: &str) -> Option<Read> {
        let says_enabled = members.contains_key("enabled");
        if members.remove("set").is_some() {
            self.fault("set", "belongs to the file, not to a job");
        }
        if let Some(script) = members.get_mut("script") {
            self.script(script, set);
            members.entry("handler").or_insert_with(|| "".into());
        }
        if members.contains_key("http") {
            members.entry("handler").or_insert_with(|| "".into());
        }
        let graph = members.remove("workflow").map(|value| {
            members.entry("handler").or_insert_with(|| "".into());
            workflow::read(value).unwrap_or_else(|faults| {
                self.faults.extend(faults);
                workflow::stand_in()
            })
        });
        if members.get("key").is_none_or(|key| key == "") {
            self.fault("key", "is missing; a job in a file needs one");
        }
        let children = members.remove("children").map(|value| self.children(value)).unwrap_or_default();
        let moved_from = members.remove("moved").and_then(|value| self.moved(&value));
        let schedule = members.remove("schedule").map(|value| self.schedule(value)).unwrap_or_default();
        let draft: JobDraft = self.members(members)?;
        let draft = JobDraft { schedule, set: set.to_owned(), children: vec![], workflow: graph, ..draft };
        if draft.params == REDACTED {
            self.fault("params", LEFT_OUT);
        }
        if draft.parts.texts().is_some_and(|texts| texts.iter().any(|text| text == REDACTED)) {
            self.fault("parts", LEFT_OUT);
        }
        if let Some(request) = &draft.http {
            let headers = request.headers.values().map(|value| ("http.headers", value));
            let texts = headers.chain([("http.url", &request.url), ("http.body", &request.body)]);
            for (member, _) in texts.filter(|(_, text)| text.ends_with(REDACTED)) {
                self.fault(member, TEXT_LEFT_OUT);
            }
        }
        let mut draft = self.checked(draft);
        draft.workflow = draft.workflow.map(|graph| workflow::with_apps(graph, &draft.app));
        let children = children.iter().map(|child| JobRef::within(child, &draft.app)).collect();
        Some(Read { says_enabled, children, moved_from, draft })
    }

    /// serde stops at the first fault of an object: the member is taken out, or gets a value that stands for it.
    fn members<T: DeserializeOwned>(&mut self, mut members: Map<String, Value>) -> Option<T> {
        for _ in 0..MOST_FAULTS {
            let error = match serde_path_to_error::deserialize(Value::Object(members.clone())) {
                Ok(value) => return Some(value),
                Err(error) => error,
            };
            let (path, said) = (error.path().to_string(), error.inner().to_string());
            let top = path.split(['.', '[']).next().unwrap_or_default();
            let missing = said.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
            if let Some(name) = missing.filter(|_| path == ".") {
                // Not one that was taken out because it is wrong.
                if self.faults.iter().all(|fault| fault.field.split(['.', '[']).next() != Some(name)) {
                    self.fault(name, "is missing; it is required");
                }
                members.insert(name.to_owned(), "missing".into());
            } else {
                let is_unknown = said.starts_with(&format!("unknown field `{path}`"));
                self.fault(&path, if is_unknown { "is no member of a job in a file" } else { &said });
                members.remove(top)?;
            }
        }
        None
    }

    /// A file has the source itself; without a remark, it names the set.
    fn script(&mut self, script: &mut Value, set: &str) {
        let Some(members) = script.as_object_mut() else { return };
        for name in ["version", "sha256", "bytes"] {
            if members.remove(name).is_some() {
                self.fault(&format!("script.{name}"), "is the server's; a file has the source");
            }
        }
        if !members.contains_key("source") {
            self.fault("script.source", "is missing; it is required");
        }
        members.entry("remark").or_insert_with(|| format!("applied from {set}").into());
    }

    fn schedule(&mut self, value: Value) -> ScheduleDraft {
        let Value::Object(members) = value else {
            self.fault("schedule", "must be an object such as {kind: none}");
            return ScheduleDraft::none();
        };
        let mut inner = Self { faults: vec![] };
        let read = inner.members::<ScheduleInput>(members);
        let draft = read.filter(|_| inner.faults.is_empty()).map(ScheduleDraft::try_from);
        let draft = draft.unwrap_or_else(|| Ok(ScheduleDraft::none()));
        let draft = draft.unwrap_or_else(|fault| {
            inner.faults.push(fault);
            ScheduleDraft::none()
        });
        let inside = |fault: FieldError| FieldError { field: format!("schedule.{}", fault.field), ..fault };
        self.faults.extend(inner.faults.into_iter().map(inside));
        draft
    }

    fn children(&mut self, value: Value) -> Vec<String> {
        serde_json::from_value(value).unwrap_or_else(|_| {
            self.fault("children", "must be a list of keys: `key` of the same app, or `app/key`");
            vec![]
        })
    }

    fn moved(&mut self, value: &Value) -> Option<String> {
        match value.as_object() {
            Some(moved) if moved.len() == 1 && moved.get("from").is_some_and(Value::is_string) => {
                moved["from"].as_str().map(str::to_owned)
            }
            _ => {
                self.fault("moved", "must be {from: KEY}, the key that the job had");
                None
            }
        }
    }

    /// The draft by the rules of the server, in the form in which the server keeps it. Calendars are known to the server only.
    fn checked(&mut self, draft: JobDraft) -> JobDraft {
        let given = draft.schedule.clone();
        let draft = JobDraft { schedule: ScheduleDraft { calendars: vec![], ..given.clone() }, ..draft };
        match draft.validate(&ScheduleContext::default(), None, 0) {
            Ok(spec) => {
                let normal = spec.normal(&draft);
                let schedule = ScheduleDraft {
                    calendars: given.calendars,
                    anchor_at: given.anchor_at,
                    spread_offset_seconds: given.spread_offset_seconds,
                    ..normal.schedule
                };
                JobDraft { schedule, ..normal }
            }
            Err(wrong) => {
                let known: Vec<String> = self.faults.iter().map(|fault| fault.field.clone()).collect();
                self.faults.extend(wrong.into_iter().filter(|fault| !known.contains(&fault.field)));
                draft
            }
        }
    }
}
