//! Workflows, and runs with items, from their fire to their end.

mod decisions;
mod ends;
mod for_each;
mod item_refusals;
mod items;
mod order;
pub mod steps;
