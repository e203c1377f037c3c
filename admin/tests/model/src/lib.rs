//! The protocol of the cluster as a small model, and a checker that walks through every state it can be in.
//!
//! Two nodes, one job with a few instants, two executors. Any node may be paused between any two steps, may lose its
//! shard at any moment (as if the lock lied and every clock were wrong), may crash, and may not learn what became of a
//! commit or of a request. What must hold in every state is in [`invariants`]; that a holder in office can always bring
//! everything to its end is checked over the whole graph.
//!
//! Each rule of the protocol can be taken away ([`Rules`]): the tests show that the checker notices.

pub mod explore;
pub mod invariants;
pub mod rules;
pub mod state;
pub mod steps;

pub use explore::{Report, explore};
pub use rules::{Rules, Scenario};
