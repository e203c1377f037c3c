//! The wall clock of a schedule.

use carillon_scheduler::{KindDraft, Millis, Schedule, ScheduleContext, Zone};
use chrono::{DateTime, FixedOffset, Offset as _};

/// An instant on that wall clock.
pub fn local(at: Millis, zone: Zone) -> DateTime<FixedOffset> {
    let utc = DateTime::from_timestamp_millis(at).unwrap_or_default();
    let local = utc.with_timezone(&zone);
    local.with_timezone(&local.offset().fix())
}

/// The same kind of schedule without calendars, spread and validity, perhaps on another clock.
pub fn bare(schedule: &Schedule, zone: Option<&str>) -> Option<Schedule> {
    let mut kind = schedule.draft().kind;
    match (&mut kind, zone) {
        (KindDraft::Cron(cron) | KindDraft::UnixCron(cron), Some(zone)) => {
            zone.clone_into(&mut cron.timezone);
        }
        (KindDraft::Daily(daily), Some(zone)) => zone.clone_into(&mut daily.timezone),
        _ => {}
    }
    Schedule::parse(&kind.into(), &ScheduleContext::from_anchor(schedule.anchor_at())).ok()
}
