//! The definition of a workflow as JSON or YAML: nodes in their order, edges, and tests of results.

mod condition;
mod condition_json;
mod draft;
mod node_list;

pub use condition::{Bound, Op, Test};
pub use draft::{AfterDraft, IfFailed, Join, NodeDraft, NodeJob, On, WorkflowDraft};
