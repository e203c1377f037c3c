//! How long runs are kept, and the counts that are left of deleted ones.

use carillon_store::retention::prune_runs;
use carillon_store::retention::rules::{EffectiveRetention, Retention};
use chrono::{Days, NaiveDate};
use serde::Serialize;
use utoipa::ToSchema;

use super::list::Whole;

/// What is set for how long runs are kept, and what is in force. Null: the next wider rule decides
#[derive(Serialize, ToSchema)]
#[schema(as = Retention)]
pub struct RetentionView {
    /// Days for which a run that did not fail is kept; 0: for ever
    #[schema(minimum = 0, maximum = 3_650)]
    days: Option<i32>,
    /// Days for which a failed run and a skipped range are kept; 0: for ever
    #[schema(minimum = 0, maximum = 3_650)]
    failure_days: Option<i32>,
    /// How many of a job's last failures stay, at any age
    #[schema(minimum = 0, maximum = 1_000)]
    failures: Option<i32>,
    /// How many of a job's latest runs that did not fail are kept; 0: without limit
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    runs: Option<i32>,
    in_force: RetentionInForce,
}

/// What is in force, from this rule, the wider rules and the defaults
#[derive(Serialize, ToSchema)]
struct RetentionInForce {
    /// Days for which a run that did not fail is kept; 0: for ever. 30 where nothing is set
    #[schema(minimum = 0, maximum = 3_650)]
    days: i32,
    /// Days for which a failed run and a skipped range are kept; 0: for ever. 90 where nothing is set
    #[schema(minimum = 0, maximum = 3_650)]
    failure_days: i32,
    /// How many of a job's last failures stay, at any age. 10 where nothing is set
    #[schema(minimum = 0, maximum = 1_000)]
    failures: i32,
    /// How many of a job's latest runs that did not fail are kept; 0: without limit. 0 where nothing is set
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    runs: i32,
}

impl RetentionView {
    pub fn new(rule: Retention, EffectiveRetention { days, failure_days, failures, runs }: EffectiveRetention) -> Self {
        Self {
            days: rule.days,
            failure_days: rule.failure_days,
            failures: rule.failures,
            runs: rule.runs,
            in_force: RetentionInForce { days, failure_days, failures, runs },
        }
    }
}

/// Counts of deleted runs
#[derive(Serialize, ToSchema)]
pub struct DayCounts {
    /// Earliest first
    items: Vec<DayCount>,
    /// There is no second page
    #[schema(inline)]
    next: Option<Whole>,
}

impl DayCounts {
    pub fn new(counts: Vec<prune_runs::DayCounts>) -> Self {
        Self { items: counts.into_iter().map(DayCount::from).collect(), next: None }
    }
}

/// Counts of the deleted runs of one day
#[derive(Serialize, ToSchema)]
struct DayCount {
    /// Of their instants, in the zone of the reports
    day: NaiveDate,
    /// How many had succeeded
    #[schema(minimum = 0)]
    succeeded: i64,
    /// How many had failed
    #[schema(minimum = 0)]
    failed: i64,
    /// How many were killed
    #[schema(minimum = 0)]
    killed: i64,
    /// How many were never sent
    #[schema(minimum = 0)]
    cancelled: i64,
}

impl From<prune_runs::DayCounts> for DayCount {
    fn from(counts: prune_runs::DayCounts) -> Self {
        let days = Days::new(u64::from(counts.day.unsigned_abs()));
        Self {
            day: NaiveDate::default().checked_add_days(days).unwrap_or_default(),
            succeeded: counts.succeeded,
            failed: counts.failed,
            killed: counts.killed,
            cancelled: counts.cancelled,
        }
    }
}
