//! A workflow as YAML, as people write it in the form of a job. All faults are found at once.

use std::fmt::Write as _;

use carillon_files::yaml::{self, Content, Node};
use carillon_scheduler::FieldError;
use carillon_scheduler::workflow::{AfterDraft, NodeDraft, NodeJob, WorkflowDraft};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Members whose value is a text: `7` without quotes is the text "7" there.
const TEXTS: [&str; 7] = ["for_each", "if_failed", "join", "node", "on", "params", "path"];
/// Members of a node in the order in which they are written.
const MEMBERS: [&str; 6] = ["job", "params", "for_each", "after", "join", "if_failed"];

/// The nodes in their order.
pub fn write(workflow: &WorkflowDraft) -> String {
    let mut text = String::new();
    if let Some(output) = &workflow.output {
        text.push_str(&member("output", &output.as_str().into()));
    }
    text.push_str("nodes:\n");
    for (name, node) in &workflow.nodes {
        let _ = writeln!(text, "  {}:", member(name, &Value::Null).trim_end_matches(": null\n"));
        let node = json(node);
        for name in MEMBERS {
            match node.get(name) {
                // A word of YAML 1.1 as a name, which readers of files know as a text.
                Some(value) if name == "after" => {
                    indented(&mut text, &member(name, value).replace("\"on\": ", "on: "));
                }
                Some(value) => indented(&mut text, &member(name, value)),
                None => {}
            }
        }
    }
    text
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// `name: value`, with an end of line.
fn member(name: &str, value: &Value) -> String {
    yaml::write(&Map::from_iter([(name.to_owned(), value.clone())]))
}

fn indented(text: &mut String, lines: &str) {
    for line in lines.lines() {
        match line {
            "" => text.push('\n'),
            line => _ = writeln!(text, "    {line}"),
        }
    }
}

/// What can be read of a text, and what is wrong with it. A node that is wrong is there by its name.
pub fn read(text: &str) -> (WorkflowDraft, Vec<FieldError>) {
    let mut reader = Reader::default();
    match yaml::read(text) {
        Ok(root) => reader.workflow(&root),
        Err(_) if text.trim().is_empty() => reader.fault("workflow", "write at least one node"),
        Err(fault) => {
            let message = format!("line {} cannot be read: “{}”", fault.line, fault.message);
            reader.fault("workflow", message);
        }
    }
    reader.with_graph()
}

#[derive(Default)]
struct Reader {
    draft: WorkflowDraft,
    faults: Vec<FieldError>,
}

impl Reader {
    fn fault(&mut self, field: &str, message: impl Into<String>) {
        self.faults.push(FieldError::new(field, message));
    }

    fn workflow(&mut self, root: &Node) {
        let Content::Map(members) = &root.content else {
            return self.fault("workflow", format!("must be an object with `nodes`, not {}", root.kind()));
        };
        for (key, value) in members {
            match key.text.as_str() {
                "nodes" => self.nodes(value),
                "output" => self.draft.output = value.text().map(str::to_owned),
                _ => self.fault(
                    &format!("workflow.{:.64}", key.text),
                    format!("line {}: there is no such member", key.line),
                ),
            }
        }
        if root.member("nodes").is_none() {
            self.fault("workflow", "must be an object with `nodes`");
        }
    }

    fn nodes(&mut self, nodes: &Node) {
        let Content::Map(members) = &nodes.content else {
            let message =
                format!("line {}: must be an object with a member for each node, not {}", nodes.line, nodes.kind());
            return self.fault("workflow.nodes", message);
        };
        for (key, value) in members {
            let field = format!("workflow.nodes.{:.64}", key.text);
            let node = self.node(&field, value).unwrap_or_else(|| NodeDraft::new(NodeJob::Id(1)));
            self.draft.nodes.push((key.text.clone(), node));
        }
    }

    /// A member that is wrong is reported and left out, so that the others are read.
    fn node(&mut self, field: &str, node: &Node) -> Option<NodeDraft> {
        let Content::Map(members) = &node.content else {
            self.fault(field, format!("line {}: must be an object with `job`, not {}", node.line, node.kind()));
            return None;
        };
        let (mut rest, mut after) = (Map::new(), vec![]);
        for (key, value) in members {
            let field = format!("{field}.{:.64}", key.text);
            match key.text.as_str() {
                "after" => after = self.after(&field, value),
                name if MEMBERS.contains(&name) => {
                    // Beside it the members that a node must have.
                    let value = to_json(name, value);
                    let alone = Map::from_iter([("job".to_owned(), 1.into()), (name.to_owned(), value.clone())]);
                    if self.typed::<NodeDraft>(&field, key.line, alone.into()).is_some() {
                        rest.insert(name.to_owned(), value);
                    }
                }
                _ => self.fault(&field, format!("line {}: there is no such member", key.line)),
            }
        }
        if node.member("job").is_none() {
            self.fault(&format!("{field}.job"), format!("line {}: is missing; it is required", node.line));
        }
        let node: NodeDraft = serde_json::from_value(rest.into()).ok()?;
        Some(NodeDraft { after, ..node })
    }

    fn after(&mut self, field: &str, list: &Node) -> Vec<AfterDraft> {
        if !matches!(list.content, Content::List(_)) {
            self.fault(field, format!("line {}: must be a list, not {}", list.line, list.kind()));
        }
        let edges = list.items().iter().enumerate();
        edges
            .filter_map(|(at, edge)| {
                let value = to_json("node", edge);
                self.typed(&format!("{field}[{at}]"), edge.line, value)
            })
            .collect()
    }

    fn typed<T: DeserializeOwned>(&mut self, field: &str, line: usize, value: Value) -> Option<T> {
        match serde_json::from_value(value) {
            Ok(value) => Some(value),
            Err(error) => {
                self.fault(field, format!("line {line} cannot be read: “{error}”"));
                None
            }
        }
    }

    /// What is wrong with the graph too, where the nodes could be read.
    fn with_graph(mut self) -> (WorkflowDraft, Vec<FieldError>) {
        if self.faults.is_empty() || self.draft.nodes.is_empty() {
            return (self.draft, self.faults);
        }
        let is_known = |error: &FieldError, faults: &[FieldError]| {
            faults.iter().any(|fault| error.field.starts_with(&fault.field) || fault.field.starts_with(&error.field))
        };
        let of_graph = self.draft.graph().err().unwrap_or_default();
        let more: Vec<FieldError> = of_graph.into_iter().filter(|error| !is_known(error, &self.faults)).collect();
        self.faults.extend(more);
        (self.draft, self.faults)
    }
}

/// What a scalar without quotes is, is decided by its member: numbers and words as in JSON, but not where a text is wanted.
fn to_json(name: &str, node: &Node) -> Value {
    match &node.content {
        Content::Scalar { text, is_plain: true } if !TEXTS.contains(&name) => match text.as_str() {
            "" | "~" => Value::Null,
            text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        },
        Content::Scalar { text, .. } => text.as_str().into(),
        Content::List(items) => items.iter().map(|item| to_json(name, item)).collect(),
        Content::Map(members) => members
            .iter()
            .map(|(key, value)| (key.text.clone(), to_json(&key.text, value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
output: \"{{nodes.load.result}}\"
nodes:
  extract:
    job: billing/extract
    params: |-
      {\"day\":
        \"{{workflow.scheduled_at}}\"}
  each:
    job: 13
    for_each: \"{{nodes.extract.result#/regions}}\"
    after: [extract]
  check:
    job: 12
    params: \"7\"
    after: [extract]
  \"12\":
    job: 12
    after:
      - node: check
        when:
          - gt: 0
            path: \"/rows\"
          - eq: \"0\"
            path: \"/text\"
      - node: extract
        on: always
    join: any
    if_failed: ignore
";

    #[test]
    fn what_is_written_is_read_back() {
        let (draft, faults) = read(TEXT);
        assert_eq!(faults, []);
        assert_eq!(
            draft.nodes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["extract", "each", "check", "12"]
        );
        assert_eq!(draft.nodes[2].1.job, NodeJob::Id(12));
        assert_eq!(draft.nodes[2].1.params.as_deref(), Some("7"), "a text, also without quotes");
        assert_eq!(write(&draft), TEXT);
    }

    #[test]
    fn all_faults_are_found_at_once_with_their_places() {
        let text = "output: x\nextra: 1\nnodes:\n  a: {jop: 1}\n  b: {job: [1], join: some}\n  c: {job: 1, after: [none, {nod: a}]}\n  d: 7\n  e: {job: 1, after: a}\n";
        let (_, faults) = read(text);
        let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
        for field in [
            "workflow.extra",
            "workflow.nodes.a.jop",
            "workflow.nodes.a.job",
            "workflow.nodes.b.job",
            "workflow.nodes.b.join",
            "workflow.nodes.c.after[1]",
            "workflow.nodes.c.after[0].node",
            "workflow.nodes.d",
            "workflow.nodes.e.after",
        ] {
            assert!(fields.contains(&field), "{field}: {fields:?}");
        }
        let (_, empty) = read(" \n");
        assert_eq!(empty[0].message, "write at least one node");
        let (_, broken) = read("nodes: [");
        assert!(
            broken[0].message.starts_with("line ") && broken[0].message.contains(" cannot be read: “"),
            "{broken:?}"
        );
        let (_, listed) = read("- a");
        assert_eq!(listed[0].message, "must be an object with `nodes`, not a list");
    }
}
