//! The life of a run, stepped: the real program on a real database, with a clock that the test turns and real
//! executors on loopback. Nothing here sleeps; what happens on another thread is waited for with a limit.

mod complete;
pub mod dispatch;
mod executor_audit;
mod executor_paths;
mod executor_tokens;
mod extremes;
mod hard_cases;
mod interleavings;
pub mod lease;
mod maintain;
mod node;
mod plan;
pub mod recover;
mod round_trips;
mod signed_requests;
mod stopping;
mod tasks;
