//! The queue in memory: the ring of runs that are due.

mod ring;
#[cfg(test)]
mod ring_tests;

pub use ring::{Entry, Ring};
