//! Definitions of jobs, and their runs on request.

mod definitions;
mod forbidden_children;
mod run;
mod validation;

pub use definitions::{Jobs, PreviewRequest};
pub use run::RunRequest;
