//! Alarms.

use carillon_store::alarm::alarms::AlarmRow;

use super::time::Time;
use super::view_macro::view;
use super::words;

view! {
    /// Something that an operator should know
    pub struct AlarmView as Alarm from row: AlarmRow {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        #[schema(value_type = words::AlarmKind)]
        kind: &'static str = row.alarm.kind.as_str(),
        /// The job, if the alarm is about one
        #[schema(minimum = 1)]
        job_id: Option<i64> = row.alarm.job_id,
        /// The run, if the alarm is about one
        #[schema(minimum = 1)]
        run_id: Option<i64> = row.alarm.run_id,
        /// For people
        message: String = row.alarm.text,
        /// When it was raised
        created_at: Time,
        /// An operator has to act: the run's outcome is not known, the job is paused, or the run waits. All other alarms
        /// only report what happened
        open: bool = row.is_open,
        /// 1: it has been open long enough to be escalated
        #[schema(minimum = 0, maximum = 1)]
        level: i16,
        /// When it was escalated
        escalated_at: Option<Time>,
        /// When it was resolved
        closed_at: Option<Time>,
    }
}
