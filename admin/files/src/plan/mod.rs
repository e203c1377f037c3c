//! What has to change on a server until it is as the files say.
//!
//! Invariant: a plan touches only jobs of its own set, unless the set may adopt others, and deletes only what its set owns.

mod build;
mod change;
mod diff;
mod instants;
mod order;
mod print;
mod prune;
mod started;

pub use build::{Options, build};
pub use change::{AppChange, Change, JobChange, LimitChange, Plan};
pub use diff::Difference;
pub use instants::InstantChange;
pub use order::levels;
pub use prune::{OverLimit, check_limit};
