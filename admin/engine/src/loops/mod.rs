//! Loops: jobs that one executor fires by itself, under a lease. Imports `executor`, `dispatch/route` and the store.
//!
//! `granter` gives the loops of this node's shards to executors when no other may still fire them, and takes them from executors that are
//! not to have them any more; `requests` is what it says to them, and `passed_over` who comes last. `renewals` answers the executors that have
//! loops: until when, and when they fire. `watch` raises alarms, and `view` is what the console and the API show.

pub(crate) mod granter;
pub(crate) mod lease;
mod passed_over;
mod renewals;
mod reports;
mod requests;
mod timing;
mod totals;
mod view;
pub(crate) mod watch;

pub use totals::totals;
pub use view::{LoopState, LoopView};
