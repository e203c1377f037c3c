//! The gap audit: what the schedules say, compared with what is on record.

pub(crate) mod compare;
pub mod difference;
pub(crate) mod fixed_delay;
pub mod job_audit;
