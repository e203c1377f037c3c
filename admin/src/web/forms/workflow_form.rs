//! The field of a workflow: its nodes as YAML.

use carillon_scheduler::workflow::WorkflowDraft;
use carillon_scheduler::{FieldError, JobDraft};

use crate::web::forms::form::Form;
use crate::web::forms::{line_ends, workflow_yaml};

/// The form's fields and the keys of their labels: what runs, and the nodes of a workflow.
pub const LABELS: &[(&str, &str)] = &[("runs", "job-runs"), (FIELD, "workflow-source")];

const FIELD: &str = "workflow";

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

/// What can be drawn of the form.
pub fn drawable(form: &Form) -> Option<WorkflowDraft> {
    let (draft, faults) = workflow_yaml::read(&line_ends::plain(form.value(FIELD)));
    (is_chosen(form) && faults.is_empty()).then_some(draft)
}

/// The field of an error about a member of a workflow, and the message with the member's place. None: it is about something else.
pub fn at_field(error: &FieldError) -> Option<(&'static str, String)> {
    let place = error.field.strip_prefix(FIELD)?;
    match place.strip_prefix('.') {
        None if place.is_empty() => Some((FIELD, error.message.clone())),
        None => None,
        Some("nodes") => Some((FIELD, error.message.clone())),
        Some(place) => Some((FIELD, format!("`{place}`: {}", error.message))),
    }
}
