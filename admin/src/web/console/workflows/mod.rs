//! Workflows in the console: the picture and the table of a graph, the progress of a run, and what people decide about it. The pages of
//! jobs and runs show them; here are also the questions before a decision and before a repetition.

pub mod decide;
pub mod definition;
pub mod edge_text;
pub mod node_badge;
pub mod picture;
pub mod progress;
pub mod rerun;
mod share;
mod stretch;
