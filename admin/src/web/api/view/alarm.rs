//! Alarms.

use carillon_store::alarm::alarms::AlarmRow;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;
use super::words;

/// Something that an operator should know
#[derive(Serialize, ToSchema)]
#[schema(as = Alarm)]
pub struct AlarmView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    #[schema(value_type = words::AlarmKind)]
    kind: &'static str,
    /// The job, if the alarm is about one
    #[schema(minimum = 1)]
    job_id: Option<i64>,
    /// The run, if the alarm is about one
    #[schema(minimum = 1)]
    run_id: Option<i64>,
    /// For people
    message: String,
    /// When it was raised
    created_at: Time,
    /// An operator has to act: the run's outcome is not known, the job is paused, or the run waits. All other alarms
    /// only report what happened
    open: bool,
    /// 1: it has been open long enough to be escalated
    #[schema(minimum = 0, maximum = 1)]
    level: i16,
    /// When it was escalated
    escalated_at: Option<Time>,
    /// When it was resolved
    closed_at: Option<Time>,
}

impl From<AlarmRow> for AlarmView {
    fn from(row: AlarmRow) -> Self {
        Self {
            id: row.id,
            kind: row.alarm.kind.as_str(),
            job_id: row.alarm.job_id,
            run_id: row.alarm.run_id,
            message: row.alarm.text,
            created_at: Time(row.created_at),
            open: row.is_open,
            level: row.level,
            escalated_at: row.escalated_at.map(Time),
            closed_at: row.closed_at.map(Time),
        }
    }
}
