//! The life of a run, stepped: the real program on a real database, with a clock that the test turns and real
//! executors on loopback. Nothing here sleeps; what happens on another thread is waited for with a limit.

mod boundary_values;
mod complete;
mod demands;
pub mod dispatch;
mod executor_audit;
mod executor_paths;
mod executor_tokens;
mod interleavings;
pub mod lease;
mod maintain;
pub mod node;
mod plan;
pub mod recover;
mod round_trips;
mod signed_requests;
mod stopping;
mod tasks;
mod unsent_claims;
pub mod workflows;
