//! Alarms and their escalation.

pub mod alarms;
pub(crate) mod escalation;
