//! The hot path of the store: the three committed writes, the leases that guard them, and what surrounds them.

mod choice;
mod claimed;
mod contention;
mod edit;
pub mod executor;
mod ids;
mod lease;
mod limits;
mod locks;
mod loops;
mod mark;
pub mod outcome;
mod parts;
pub(super) mod plans;
pub mod rows;
mod schema;
mod send;
mod snapshot;
mod texts;
