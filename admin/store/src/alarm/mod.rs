//! Alarms and their escalation.

pub mod alarms;
pub(crate) mod escalation;
pub(crate) mod stalled_shards;
