//! The fields of a script: its language, its source, and what is new in it.

use carillon_scheduler::{ScriptDraft, ScriptKind};

use crate::web::forms::form::Form;
use crate::web::forms::line_ends;

pub const LABELS: &[(&str, &str)] = &[
    ("type", "script-type"),
    ("source", "script-source"),
    ("remark", "script-remark"),
    ("own_password", "factor-your-password"),
];

/// The form of a job whose script is this source.
pub fn fill(form: Form, kind: ScriptKind, source: &str) -> Form {
    form.with("runs", "script").with("type", kind.as_str()).with("source", source)
}

/// Whether the form asks for a script in place of a handler.
pub fn is_chosen(form: &Form) -> bool {
    form.is("runs", "script")
}

/// The script that was filled in. None: its language cannot be read, which the form says.
pub fn script(form: &mut Form) -> Option<ScriptDraft> {
    let source = line_ends::plain(form.value("source"));
    match form.value("type").parse::<ScriptKind>() {
        Ok(kind) => return Some(ScriptDraft::new(kind, source, form.value("remark"))),
        Err(error) => form.add_error("type", error.to_string()),
    }
    None
}
