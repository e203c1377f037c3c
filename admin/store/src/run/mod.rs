//! The life of a run: recorded by a claim, a trigger or a delayed trigger, marked, settled; what the engine polls and what people read.

pub mod adopt;
pub mod advance;
pub mod cancel;
pub mod candidate_sets;
pub mod claim;
pub mod expand;
pub(crate) mod follow;
pub mod follow_up;
pub mod lock;
pub mod mark;
pub(crate) mod new_runs;
pub mod open;
pub(crate) mod params;
pub mod poll;
pub mod route;
pub mod settle;
pub mod trigger;
pub mod unmark;
pub mod view;
