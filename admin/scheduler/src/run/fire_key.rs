use std::fmt;

use super::cause::Cause;

/// Identifies a fire, or one part of a broadcast fire. All attempts share it; handlers get it as their idempotency key.
///
/// ```
/// use carillon_scheduler::{Cause, FireKey};
///
/// let key = FireKey { job_id: 7, cause: Cause::Schedule, fire_no: 1_735_689_600_000, part: 0 };
/// assert_eq!(key.to_string(), "7:schedule:1735689600000:0");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FireKey {
    /// The job.
    pub job_id: i64,
    /// Why it fires.
    pub cause: Cause,
    /// The number within job and cause: of a schedule or backfill fire the instant in UTC ms; of a child fire the id
    /// of the parent fire's first run; of a manual or api fire the id of its own first run; of a delayed fire the id of its trigger;
    /// of a node the number that its workflow's run has given it; of items the id of the run that they are of.
    pub fire_no: i64,
    /// The broadcast index, or the number of the delivery of items; 0 for others.
    pub part: i32,
}

impl fmt::Display for FireKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:{}", self.job_id, self.cause, self.fire_no, self.part)
    }
}
