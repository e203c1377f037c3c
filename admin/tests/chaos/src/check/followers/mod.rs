//! What follows from the ends of runs: children, and the nodes of workflows.

pub mod children;
pub mod flows;
pub mod items;
