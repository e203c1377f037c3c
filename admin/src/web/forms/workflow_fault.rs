//! Errors about members of a workflow: the form has one field for all of them.

use carillon_scheduler::FieldError;

/// The field, which is called as the member.
pub const FIELD: &str = "workflow";

/// The field of an error about a member of a workflow, and the message with the member's place. None: it is about something else.
pub fn at_field(error: &FieldError) -> Option<(&'static str, String)> {
    let place = error.field.strip_prefix(FIELD)?;
    match place.strip_prefix('.') {
        None if place.is_empty() => Some((FIELD, error.message.clone())),
        None => None,
        Some("nodes") => Some((FIELD, error.message.clone())),
        Some(place) => Some((FIELD, format!("at `{place}`: {}", error.message))),
    }
}
