//! Runs that are recorded and not yet marked.

mod adopt;
mod claim;
mod fire;
mod quarantine;
