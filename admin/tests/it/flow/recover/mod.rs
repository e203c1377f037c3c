//! Runs without an outcome: asked about, given up, or found again after a crash.

mod checks;
mod crashes;
pub mod cut_wire;
mod doubt;
mod job_evidence;
mod journals;
mod known_here;
pub mod lost;
mod repeated_kills;
pub mod unknown_commits;
