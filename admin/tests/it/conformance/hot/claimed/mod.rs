//! Runs that are recorded and not yet marked.

mod adopt;
mod claim;
mod delayed;
mod fire;
mod quarantine;
