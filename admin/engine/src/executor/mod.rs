//! Calls to executors, the limits of each address, and the directory of the registered ones. The only files that name reqwest.

pub(crate) mod address_gate;
pub mod client;
pub(crate) mod directory;
mod held_connections;
pub(crate) mod outcome;

pub use client::{ExecutorClient, Limits, RunHeaders};
pub use outcome::Outcome;
