//! Workflows: the graph of a job, and the progress of its runs.
//!
//! The run of a workflow is `running` without an executor from [`hold`] to the end of its graph. A node's run is a fire of the node's job
//! with the cause `node`; its number is made of the workflow's run and the node, so that it starts once. What follows from the end of a
//! node is computed by one pure function, under the lock of the workflow's run ([`advance`]).

pub mod action;
pub mod advance;
pub mod audit;
mod facts;
pub mod graphs;
pub mod hold;
mod progress;
mod prune;
pub(crate) mod recent_graphs;
pub mod view;
