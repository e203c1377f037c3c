//! The field of a workflow: its nodes as YAML.

use carillon_scheduler::JobDraft;
use carillon_scheduler::workflow::{AfterDraft, NodeDraft, NodeJob, WorkflowDraft};
use carillon_store::{Store, VisibleApps};

use crate::web::forms::form::Form;
use crate::web::forms::workflow_fault::FIELD;
use crate::web::forms::{child_jobs, line_ends, workflow_yaml};

/// The form's fields and the keys of their labels: what runs, and the nodes of a workflow.
pub const LABELS: &[(&str, &str)] =
    &[("runs", "job-runs"), (FIELD, "workflow-source"), (NAME, "node-add-name"), (JOB, "job"), (AFTER, "node-after")];

/// A node that is to be added to the text: its name, its job, and the nodes before it.
const NAME: &str = "node_name";
const JOB: &str = "node_job";
const AFTER: &str = "node_after";

pub fn fill(form: Form, draft: &JobDraft) -> Form {
    match &draft.workflow {
        Some(workflow) => form.with("runs", "workflow").with(FIELD, workflow_yaml::write(workflow)),
        None => form.with("runs", "handler"),
    }
}

/// Whether the form asks for a workflow in place of a handler.
pub fn is_chosen(form: &Form) -> bool {
    form.is("runs", "workflow")
}

/// The workflow that was filled in. None: it cannot be read, which the form says.
pub fn workflow(form: &mut Form) -> Option<WorkflowDraft> {
    let (draft, faults) = workflow_yaml::read(&line_ends::plain(form.value(FIELD)));
    if faults.is_empty() {
        return Some(draft);
    }
    form.add_errors(faults);
    None
}

/// Adds the node whose name and job were typed to the text. What is wrong with it stays, with its error.
///
/// # Errors
/// The database could not be asked.
pub async fn add_node(store: &Store, form: &mut Form, apps: &VisibleApps) -> carillon_store::Result<()> {
    let (Some(name), job) = (form.given(NAME), form.given(JOB)) else { return Ok(()) };
    let Some(job) = job else {
        form.add_error(JOB, "Choose the job of the node.");
        return Ok(());
    };
    let id = match child_jobs::filtered(store, form.value("app"), &job, apps).await? {
        Ok(id) => id,
        Err(message) => {
            form.add_error(JOB, message);
            return Ok(());
        }
    };
    let text = line_ends::plain(form.value(FIELD));
    let (mut draft, faults) = match text.trim().is_empty() {
        true => (WorkflowDraft::default(), vec![]),
        false => workflow_yaml::read(&text),
    };
    if !faults.is_empty() {
        form.add_error(NAME, "The nodes above cannot be read; correct them first.");
        return Ok(());
    }
    let after = form.value(AFTER).split(|c: char| c == ',' || c.is_whitespace()).filter(|name| !name.is_empty());
    let after = after.map(AfterDraft::new).collect();
    draft.nodes.push((name, NodeDraft { after, ..NodeDraft::new(NodeJob::Id(id)) }));
    form.set(FIELD, workflow_yaml::write(&draft));
    for field in [NAME, JOB, AFTER] {
        form.set(field, "");
    }
    Ok(())
}

/// What can be drawn of the form.
pub fn drawable(form: &Form) -> Option<WorkflowDraft> {
    let (draft, faults) = workflow_yaml::read(&line_ends::plain(form.value(FIELD)));
    (is_chosen(form) && faults.is_empty()).then_some(draft)
}
