//! A fire and its runs: the cause and the key of a fire, the states of a run, the rule for overlapping fires, the sizes of deliveries
//! of items, and limits of runs at work.

mod cause;
mod event;
mod fire_key;
pub mod limit;
pub mod map;
pub mod overlap;
mod reason;
mod state;
mod traceparent;

pub use cause::Cause;
pub use event::{Outcome, RunEvent};
pub use fire_key::FireKey;
pub use overlap::Overlap;
pub use reason::RunReason;
pub use state::RunState;
pub use traceparent::Traceparent;
