//! Workflows from their fire to their end.

mod decisions;
mod ends;
mod order;
pub mod steps;
