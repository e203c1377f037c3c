//! Runs without an outcome: asked about, given up, or found again after a crash.

mod checks;
mod crashes;
pub mod cut_wire;
mod job_evidence;
mod journals;
mod lease_ends;
pub mod lost;
mod pending_outcomes;
mod repeated_kills;
mod unanswered_runs;
pub mod unknown_commits;
