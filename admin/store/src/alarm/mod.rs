//! Alarms and their escalation.

pub mod alarms;
pub(crate) mod escalation;
pub mod late_starts;
pub(crate) mod stalled_shards;
