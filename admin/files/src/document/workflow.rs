//! The graph of a workflow in a file: its jobs are named by keys. Wrong members of all nodes are found at once.

use carillon_scheduler::FieldError;
use carillon_scheduler::workflow::{NodeDraft, NodeJob, WorkflowDraft};
use serde_json::{Map, Value};

use super::entry::{JobRef, REDACTED, TEXT_LEFT_OUT};

/// The member `workflow` of a job.
pub fn read(value: Value) -> Result<WorkflowDraft, Vec<FieldError>> {
    let Value::Object(members) = value else {
        return Err(vec![FieldError::new("workflow", "must be an object with nodes")]);
    };
    let mut faults = vec![];
    let (mut output, mut nodes) = (None, None);
    for (name, value) in members {
        match (name.as_str(), value) {
            ("output", Value::String(text)) => output = Some(text),
            ("output", _) => faults.push(FieldError::new("workflow.output", "must be a text")),
            ("nodes", Value::Object(members)) => nodes = Some(read_nodes(members, &mut faults)),
            ("nodes", _) => {
                faults.push(FieldError::new("workflow.nodes", "must be an object with the nodes by name"));
                nodes = Some(vec![]);
            }
            (name, _) => {
                let message = "is no member of a workflow; allowed: nodes, output";
                faults.push(FieldError::new(format!("workflow.{name}"), message));
            }
        }
    }
    if nodes.is_none() {
        faults.push(FieldError::new("workflow.nodes", "is missing; it is required"));
    }
    let texts = output.iter().map(|text| ("workflow.output".to_owned(), text));
    faults.extend(texts.filter(|(_, text)| *text == REDACTED).map(|(member, _)| redacted(&member)));
    if faults.is_empty() { Ok(WorkflowDraft { output, nodes: nodes.unwrap_or_default() }) } else { Err(faults) }
}

fn redacted(member: &str) -> FieldError {
    FieldError::new(member, TEXT_LEFT_OUT)
}

fn read_nodes(members: Map<String, Value>, faults: &mut Vec<FieldError>) -> Vec<(String, NodeDraft)> {
    let mut nodes = vec![];
    for (name, value) in members {
        let member = format!("workflow.nodes.{name}");
        let node: NodeDraft = match serde_path_to_error::deserialize(value) {
            Ok(node) => node,
            Err(error) => {
                let inside = match error.path().to_string().as_str() {
                    "." => member,
                    path => format!("{member}.{path}"),
                };
                faults.push(FieldError::new(inside, error.inner().to_string()));
                continue;
            }
        };
        if let NodeJob::Id(id) = node.job {
            let message = format!("{id} is the number of a job on one server; name it by its key: `key` or `app/key`");
            faults.push(FieldError::new(format!("{member}.job"), message));
        }
        if node.params.as_deref() == Some(REDACTED) {
            faults.push(redacted(&format!("{member}.params")));
        }
        nodes.push((name, node));
    }
    nodes
}

/// The graph with its jobs as `app/key`, for a workflow of this app.
pub fn with_apps(mut workflow: WorkflowDraft, app: &str) -> WorkflowDraft {
    for (_, node) in &mut workflow.nodes {
        if let NodeJob::Key(key) = &node.job {
            node.job = NodeJob::Key(JobRef::within(key, app).to_string());
        }
    }
    workflow
}

/// What stands for a graph with faults while the other members are checked.
pub fn stand_in() -> WorkflowDraft {
    let node = NodeDraft::new(NodeJob::Key("job".to_owned()));
    WorkflowDraft { output: None, nodes: vec![("node".to_owned(), node)] }
}
