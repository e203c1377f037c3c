/// An argument that cannot be used; the text says what would be right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);
