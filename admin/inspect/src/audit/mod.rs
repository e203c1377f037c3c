//! The gap audit: what the schedules say, compared with what is on record.

mod compare;
pub(crate) mod difference;
mod fixed_delay;
pub(crate) mod job_audit;

pub use difference::{Difference, GapKind, GapReason};
pub use job_audit::{JobAudit, audit_deleted_job, audit_job};
