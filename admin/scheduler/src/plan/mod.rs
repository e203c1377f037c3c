//! What is recorded of a job's instants, and where the cursor of the job moves.
//!
//! A plan is the pure half of a claim: it splits the instants from the cursor up to the horizon into those that fire
//! and ranges of skipped ones. Every instant is in exactly one of them under every policy.

pub mod misfire;
mod plan_input;
mod planner;
#[cfg(test)]
mod planner_tests;
#[cfg(test)]
mod policies_tests;
mod skipped;
mod sweep;

pub use misfire::{CatchUp, MisfirePolicy};
pub use plan_input::PlanInput;
pub use planner::{Plan, plan};
pub use skipped::{COUNT_LIMIT, SkipReason, Skipped};
