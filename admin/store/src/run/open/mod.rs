//! Runs that have not ended: what the engine polls.

pub mod checked;
pub mod misplaced;
pub mod overdue;
pub mod overlapping;
pub mod running;
pub mod unanswered;
