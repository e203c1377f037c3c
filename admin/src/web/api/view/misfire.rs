//! Ranges of skipped instants.

use carillon_store::Misfire;

use super::time::Time;
use super::view_macro::view;
use super::words;

view! {
    /// Instants of a job that did not run. Both ends are instants and belong to the range
    pub struct MisfireView as Misfire from misfire: Misfire {
        /// The job
        #[schema(minimum = 1)]
        job_id: i64,
        /// The first instant
        from: Time = Time(misfire.from_at),
        /// The last instant
        to: Time = Time(misfire.to_at),
        /// How many; 10,000 means 10,000 or more
        #[schema(minimum = 1, maximum = 10_000)]
        count: i32,
        /// The job's misfire policy at that time
        #[schema(value_type = words::MisfirePolicy)]
        policy: &'static str = misfire.policy.as_str(),
        #[schema(value_type = words::SkipReason)]
        reason: &'static str = misfire.reason.as_str(),
    }
}
