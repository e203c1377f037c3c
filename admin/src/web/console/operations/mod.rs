//! What the scheduler has done and keeps, for those who operate it: skipped fires, the gap audit, retention, nodes and shards, imports.

pub mod gaps;
pub mod imports;
pub mod misfires;
pub mod nodes;
pub mod retention;
pub mod retention_form;
mod tasks;
