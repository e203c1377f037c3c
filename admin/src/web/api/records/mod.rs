//! Lists of what has happened: alarms, entries of the audit, skipped ranges.

pub mod alarms;
pub mod audit;
pub mod misfires;
