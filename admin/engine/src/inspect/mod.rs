//! Read-only views of what was, is and will be planned.

pub mod audit;
pub mod explain;
pub mod forecast;
