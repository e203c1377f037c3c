//! What follows from the ends of runs, and from requests: children, the nodes of workflows, items, the runs of delayed triggers.

pub mod children;
pub mod delayed;
pub mod flows;
pub mod items;
