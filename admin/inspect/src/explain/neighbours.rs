//! What a definition says of a moment: an instant, its neighbours, and what keeps it from being one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use carillon_scheduler::{Calendar, Millis, Schedule, ScheduleContext, ScheduleDraft};
use chrono::DateTime;

use carillon_store::job::history::{DefinitionVersion, VersionRules};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdjacentFires {
    pub is_instant: bool,
    pub before: Option<Millis>,
    pub after: Option<Millis>,
    /// It would be one, but for these calendars.
    pub excluded_by: Vec<String>,
    /// It would be one, but for the job's validity.
    pub is_outside: bool,
}

impl AdjacentFires {
    /// By the definition of an era.
    pub(crate) fn around(era: &DefinitionVersion, at: Millis) -> Self {
        let VersionRules::Known { schedule, calendars, .. } = &era.rules else {
            return Self::default();
        };
        if schedule.is_delay() {
            return Self::default();
        }
        // The engine reports a schedule that panics, and pauses its job.
        let look = || look(schedule, calendars.list(), at);
        catch_unwind(AssertUnwindSafe(look)).unwrap_or_default()
    }
}

fn look(schedule: &Schedule, calendars: &[Arc<Calendar>], at: Millis) -> AdjacentFires {
    let is_instant = has(schedule, at);
    let mut found = AdjacentFires {
        is_instant,
        before: before(schedule, at),
        after: schedule.next_after(at),
        ..AdjacentFires::default()
    };
    if is_instant {
        return found;
    }
    let offset = schedule.spread_offset_seconds();
    let would_be = |draft: ScheduleDraft, calendars: &[Arc<Calendar>]| {
        let facts = ScheduleContext {
            anchor_at: schedule.anchor_at(),
            spread_offset_seconds: u32::try_from(offset).unwrap_or(0),
            calendars,
        };
        Schedule::parse(&draft, &facts).is_ok_and(|schedule| has(&schedule, at))
    };
    let draft = schedule.draft();
    if would_be(ScheduleDraft { start_at: None, end_at: None, ..draft.clone() }, calendars) {
        found.is_outside = true;
    } else if !draft.calendars.is_empty()
        && would_be(ScheduleDraft { calendars: vec![], start_at: None, end_at: None, ..draft.clone() }, &[])
    {
        let utc = DateTime::from_timestamp_millis(at - offset * 1000).unwrap_or_default();
        let day = utc.with_timezone(&draft.zone()).date_naive();
        let excluding = calendars.iter().filter(|calendar| calendar.excludes(day));
        found.excluded_by = excluding.map(|calendar| calendar.name.clone()).collect();
    }
    found
}

fn has(schedule: &Schedule, at: Millis) -> bool {
    schedule.next_after(at - 1) == Some(at)
}

/// There is no way back in a schedule: it is walked from ever farther behind.
fn before(schedule: &Schedule, at: Millis) -> Option<Millis> {
    const MINUTE: Millis = 60_000;
    for minutes in [1, 60, 1440, 46_080, 576_000, 5_760_000] {
        let next = |instant: &Millis| schedule.next_after(*instant);
        let instants = std::iter::successors(schedule.next_after(at - minutes * MINUTE), next);
        if let Some(found) = instants.take_while(|instant| *instant < at).take(100_000).last() {
            return Some(found);
        }
    }
    None
}
