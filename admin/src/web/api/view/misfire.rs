//! Ranges of skipped instants.

use carillon_store::Misfire;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;
use super::words;

/// Instants of a job that did not run. Both ends are instants and belong to the range
#[derive(Serialize, ToSchema)]
#[schema(as = Misfire)]
pub struct MisfireView {
    /// The job
    #[schema(minimum = 1)]
    job_id: i64,
    /// The first instant
    from: Time,
    /// The last instant
    to: Time,
    /// How many; 10,000 means 10,000 or more
    #[schema(minimum = 1, maximum = 10_000)]
    count: i32,
    /// The job's misfire policy at that time
    #[schema(value_type = words::MisfirePolicy)]
    policy: &'static str,
    #[schema(value_type = words::SkipReason)]
    reason: &'static str,
}

impl From<Misfire> for MisfireView {
    fn from(misfire: Misfire) -> Self {
        Self {
            job_id: misfire.job_id,
            from: Time(misfire.from_at),
            to: Time(misfire.to_at),
            count: misfire.count,
            policy: misfire.policy.as_str(),
            reason: misfire.reason.as_str(),
        }
    }
}
