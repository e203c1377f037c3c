//! The id of a request, which its error page and its log lines carry.

/// Marks each answer and its log lines.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);
