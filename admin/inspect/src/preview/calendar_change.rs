//! What another version of a calendar would change for a job.

use std::collections::BTreeMap;
use std::sync::Arc;

use carillon_scheduler::{Calendar, FieldError, Millis, Schedule, ScheduleContext};
use chrono::NaiveDate;

use crate::preview::excluded_days::excluded;
use carillon_store::Job;

/// As far as is looked ahead.
const AHEAD: Millis = 366 * 86_400_000;

/// Days with instants of the job whose instants the change affects, within a year. Where calendars exclude very many days, fewer
/// are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalendarChange {
    /// Days that would be excluded.
    pub excluded: Vec<NaiveDate>,
    /// Excluded days on which it would fire again.
    pub restored: Vec<NaiveDate>,
}

/// Compares the calendars of a job with the same calendars after `changed` has replaced the one of its name.
///
/// # Errors
/// What was stored is no schedule (any more).
pub fn calendar_change(job: &Job, changed: &Arc<Calendar>, now: Millis) -> Result<CalendarChange, FieldError> {
    let before = job.calendars.list();
    let replaced = |calendar: &Arc<Calendar>| match calendar.name == changed.name {
        true => changed.clone(),
        false => calendar.clone(),
    };
    let after: Vec<Arc<Calendar>> = before.iter().map(replaced).collect();
    let days = |calendars: &[Arc<Calendar>]| -> Result<BTreeMap<NaiveDate, Option<NaiveDate>>, FieldError> {
        let context = ScheduleContext { calendars, ..job.facts() };
        let schedule = Schedule::parse(&job.draft.schedule, &context)?;
        let found = excluded(&schedule, calendars, now, Some(now + AHEAD));
        Ok(found.into_iter().map(|it| (it.day, it.moved_to)).collect())
    };
    let (old, new) = (days(before)?, days(&after)?);
    // A list that was cut says nothing of the days behind its last one.
    let end = |days: &BTreeMap<NaiveDate, _>| match days.len() {
        crate::preview::excluded_days::MOST.. => days.keys().next_back().copied(),
        _ => None,
    };
    let end = [end(&old), end(&new)].into_iter().flatten().min().unwrap_or(NaiveDate::MAX);
    let only = |these: &BTreeMap<NaiveDate, _>, others: &BTreeMap<NaiveDate, _>| {
        these.keys().filter(|day| **day <= end && !others.contains_key(day)).copied().collect()
    };
    Ok(CalendarChange { excluded: only(&new, &old), restored: only(&old, &new) })
}
