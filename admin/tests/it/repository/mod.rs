//! What the files of the repository must hold: sources, documents, templates and the tests' own claims.

mod checklist;
mod demands;
mod log_fields;
mod prose;
mod row_evidence;
mod rows;
mod rust_text;
mod sentences;
pub mod sources;
mod texts;
