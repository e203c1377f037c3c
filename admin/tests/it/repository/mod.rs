//! What the files of the repository must hold: sources, documents, templates and the tests' own claims.

mod checklist;
mod log_fields;
mod rows;
mod sources;
mod texts;
