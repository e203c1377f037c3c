//! Which executor of an app gets a run.
//!
//! A strategy is a variant of [`RouteStrategy`], an arm in [`order`] and, if it has logic, a file of its own. Nothing here
//! does I/O: turns, random numbers, weights, counts and history are arguments. A probing route only gives the order; its
//! caller sends the probes.

mod candidate;
mod consistent_hash;
mod labels;
mod least_active;
mod least_frequently_used;
mod least_recently_used;
mod order;
mod random;
mod round_robin;
mod sticky;
mod strategy;
mod weighted;

pub use candidate::{Candidate, DEFAULT_WEIGHT, WEIGHTS, check_weight};
pub use consistent_hash::HashRing;
pub use labels::{LabelError, Labels};
pub use least_frequently_used::Frequency;
pub use least_recently_used::Recency;
pub use order::{RouteInput, order};
pub use strategy::{Probe, RouteStrategy};
