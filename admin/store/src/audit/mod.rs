//! The audit: who did what to which object, and what was refused. Rows are written in the transaction of their change and never
//! changed afterwards.

pub(crate) mod actor;
pub(crate) mod change;
pub mod denials;
pub(crate) mod entry;
pub mod list;
pub(crate) mod object;
pub(crate) mod refusal_limit;
