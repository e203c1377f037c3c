//! What an executor's address can take now: its slots, its breaker, and who is tried first when it was closed.

pub(crate) mod gate;
pub(crate) mod pool;
pub(crate) mod slot_limit;
mod trial_line;
