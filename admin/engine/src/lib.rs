//! The life of a run, from its lease and its claim to its result, and the entry points for people and programs.

pub mod executor;
pub mod lease;
pub mod metrics;
pub mod pipeline;
pub mod runtime;

use carillon_store as store;
use carillon_store::failpoint;
