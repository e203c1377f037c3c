//! Errors that name the member of a request or form that is wrong.

use serde::Serialize;

/// What is wrong with one member, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{field}: {message}")]
pub struct FieldError {
    /// The member as the API spells it, such as `schedule.expression`.
    pub field: String,
    /// A sentence for the user.
    pub message: String,
}

impl FieldError {
    /// An error of one member.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }

    /// All of them in one line.
    pub fn join(errors: &[Self]) -> String {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }
}
