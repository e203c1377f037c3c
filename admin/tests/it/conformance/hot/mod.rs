//! The hot path of the store: the three committed writes, the leases that guard them, and what surrounds them.

mod adopt;
mod choice;
mod claim;
mod contention;
mod edit;
mod executor;
mod fire;
mod ids;
mod lease;
mod locks;
mod mark;
pub mod outcome;
pub(super) mod plans;
mod quarantine;
pub mod rows;
mod schema;
mod send;
mod snapshot;
mod texts;
