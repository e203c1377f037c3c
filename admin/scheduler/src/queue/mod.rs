//! In-memory queues: the ring of runs that are due, and keyed timers.

mod ring;
#[cfg(test)]
mod ring_tests;
mod timers;
#[cfg(test)]
mod timers_tests;

pub use ring::{Entry, Ring};
pub use timers::Timers;
