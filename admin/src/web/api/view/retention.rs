//! How long runs are kept, and the counts that are left of deleted ones.

use carillon_store::retention::prune_runs;
use carillon_store::retention::rules::{EffectiveRetention, Retention};
use chrono::{Days, NaiveDate};

use super::list::Whole;
use super::view_macro::{IntoView, view};

view! {
    /// What is set for how long runs are kept, and what is in force. Null: the next wider rule decides
    pub struct RetentionView as Retention from rule: Retention, in_force: EffectiveRetention {
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
        in_force: RetentionInForce = in_force.into(),
    }
}

view! {
    /// What is in force, from this rule, the wider rules and the defaults
    struct RetentionInForce as RetentionInForce from rule: EffectiveRetention {
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
}

view! {
    /// Counts of deleted runs
    pub struct DayCounts as DayCounts from counts: Vec<prune_runs::DayCounts> {
        /// Earliest first
        items: Vec<DayCount> = counts.into_view(),
        /// There is no second page
        #[schema(inline)]
        next: Option<Whole> = None,
    }
}

view! {
    /// Counts of the deleted runs of one day
    struct DayCount as DayCount from counts: prune_runs::DayCounts {
        /// Of their instants, in the zone of the reports
        day: NaiveDate = {
            let days = Days::new(u64::from(counts.day.unsigned_abs()));
            NaiveDate::default().checked_add_days(days).unwrap_or_default()
        },
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
}
