//! The hot path of the store: the three committed writes, the leases that guard them, and what surrounds them.

mod adopt;
mod chain;
mod children;
mod choice;
mod claim;
mod contention;
mod counted;
mod doubt;
mod edit;
mod executor;
mod fire;
mod follow;
mod ids;
mod lease;
mod locks;
mod mark;
pub(super) mod plans;
mod quarantine;
pub mod rows;
mod schema;
mod send;
pub mod settle;
mod snapshot;
mod texts;
mod watch;
