//! The third committed write: the outcome of a run, with all that follows from it, in one transaction.

pub mod by_hand;
pub mod consequences;
pub(crate) mod effects;
mod failures;
pub mod finding;

pub mod outcomes;
pub mod statements;
