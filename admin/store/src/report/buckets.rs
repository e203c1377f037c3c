//! A line of `report_day`.

use std::fmt;

use sea_orm::{DbErr, FromQueryResult, QueryResult};

use crate::report::counts::Counts;
use crate::report::histogram::Histogram;

/// Durations and lateness, in one column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub durations: Histogram,
    pub lateness: Histogram,
}

impl Times {
    fn from_text(text: &str) -> Self {
        let (durations, lateness) = text.split_once(';').unwrap_or_default();
        Self { durations: Histogram::from_text(durations), lateness: Histogram::from_text(lateness) }
    }

    pub fn merge(&mut self, other: &Self) {
        self.durations.merge(&other.durations);
        self.lateness.merge(&other.lateness);
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};{}", self.durations, self.lateness)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DayLine {
    pub app_id: i64,
    pub counts: Counts,
    pub times: Times,
}

impl DayLine {
    pub fn merge(&mut self, other: &Self) {
        self.app_id = other.app_id;
        self.counts.add(&other.counts);
        self.times.merge(&other.times);
    }
}

/// A line with its key.
pub(crate) struct KeyedLine {
    pub day: i32,
    /// Below 0: of all jobs of the app.
    pub job_id: i64,
    pub line: DayLine,
}

impl FromQueryResult for KeyedLine {
    fn from_query_result(row: &QueryResult, pre: &str) -> Result<Self, DbErr> {
        let count = |name| row.try_get::<i64>(pre, name);
        let counts = Counts {
            succeeded: count("succeeded")?,
            failed: count("failed")?,
            killed: count("killed")?,
            cancelled: count("cancelled")?,
            doubtful: count("doubtful")?,
        };
        let times = Times::from_text(&row.try_get::<String>(pre, "times")?);
        let line = DayLine { app_id: row.try_get(pre, "app_id")?, counts, times };
        Ok(Self { day: row.try_get(pre, "day")?, job_id: row.try_get(pre, "job_id")?, line })
    }
}
