//! The third committed write: the outcome of a run, with all that follows from it, in one transaction.

pub mod by_hand;
pub(crate) mod children;
pub(crate) mod effects;
mod failures;
pub mod finding;
pub(crate) mod fixed_delay;
pub mod follow_up;
pub mod outcomes;
pub mod statements;
