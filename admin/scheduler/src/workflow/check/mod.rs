//! The check of a definition: all faults at once.

mod circles;
mod members;
