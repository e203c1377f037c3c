//! Workflows: a graph of nodes, each of which runs an ordinary job.
//!
//! [`WorkflowDraft`] is the definition as a user writes it, [`Graph`] what its check makes of it. [`advance`] derives the state of each node
//! from the facts: which nodes have a run, and how these ended. States that are not facts (waiting, held, skipped, upstream failed, cancelled)
//! are computed each time, so late results and marks by hand need no rules of their own.
//!
//! Invariant: no I/O, no time and no random numbers; the same arguments give the same answer.

mod advance;
mod check;
mod definition;
mod derive;
mod edge;
mod end;
mod facts;
mod for_each;
mod graph;
mod input;
mod join;
mod layout;
pub mod limits;
mod node_view;
mod rerun;
mod state;
mod template;
mod value_path;
mod why;

pub use advance::{Advance, advance};
pub use definition::{AfterDraft, Bound, IfFailed, Join, NodeDraft, NodeJob, On, Op, Test, WorkflowDraft};
pub use end::End;
pub use facts::{Fact, Facts, Stop};
pub use graph::{Edge, Graph, Node};
pub use input::WorkflowInput;
pub use layout::{EdgePath, Layout, NodeBox, layout};
pub use node_view::{NodeView, Start};
pub use rerun::{Before, Repeat, RerunFrom, repeats};
pub use state::NodeState;
pub use template::Template;
pub(crate) use value_path::{check_path, inserted, value_at};
pub use why::{Branch, Parent, Why};
