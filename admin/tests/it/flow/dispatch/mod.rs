//! From a due run to its request: routes, probes, batches, limits.

mod app_pauses;
mod batches;
mod choices;
mod drain;
mod eligible_executors;
mod full_pools;
mod http;
mod isolation;
mod limits;
mod overlap;
mod parts;
mod placeholders;
mod probes;
pub mod routes;
mod run_limits;
mod scripts;
mod shared_addresses;
pub mod write_gate;
