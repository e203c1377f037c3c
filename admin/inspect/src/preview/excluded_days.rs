//! The days on which calendars leave instants out, or from which they move them.

use std::sync::Arc;

use carillon_scheduler::calendar::is_excluded;
use carillon_scheduler::{Calendar, Excluded, Millis, Schedule, Zone};
use chrono::{Days, NaiveDate, NaiveTime};

use crate::preview::wall_clock::{bare, local};

/// Days that are listed; more would hide the fires.
pub(crate) const MOST: usize = 50;
/// As far as an instant is moved.
const FARTHEST: usize = 100;

/// A day that has instants and is excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedDay {
    pub day: NaiveDate,
    /// Where its instants go; None: they are left out.
    pub moved_to: Option<NaiveDate>,
    /// The calendars that exclude it.
    pub calendars: Vec<String>,
}

/// Between `from` and the last fire that is shown; without a fire, the first of them after `from`.
pub fn excluded(
    schedule: &Schedule,
    calendars: &[Arc<Calendar>],
    from: Millis,
    last: Option<Millis>,
) -> Vec<ExcludedDay> {
    let mut found = vec![];
    let draft = schedule.draft();
    if draft.calendars.is_empty() || schedule.is_delay() {
        return found;
    }
    let (Some(bare), zone) = (bare(schedule, None), draft.zone()) else {
        return found;
    };
    let offset = schedule.spread_offset_seconds() * 1000;
    let start = draft.start_at.map_or(from, |start| from.max(start - 1));
    let end = last.or(draft.end_at).unwrap_or(Millis::MAX).saturating_sub(offset);
    let mut at = bare.next_after(start - offset);
    // Each step leaves a day behind, so this ends with the days, however many instants they have.
    for _ in 0..1000 {
        let Some(instant) = at.filter(|at| *at <= end && found.len() < MOST) else {
            break;
        };
        let day = local(instant, zone).date_naive();
        if is_excluded(calendars, day) {
            found.push(ExcludedDay {
                day,
                moved_to: target(calendars, draft.excluded, day),
                calendars: calendars
                    .iter()
                    .filter(|calendar| calendar.excludes(day))
                    .map(|calendar| calendar.name.clone())
                    .collect(),
            });
        }
        at = start_of_next(day, zone).and_then(|next| bare.next_after(next.max(instant + 1) - 1));
    }
    found
}

fn target(calendars: &[Arc<Calendar>], excluded: Excluded, day: NaiveDate) -> Option<NaiveDate> {
    match excluded {
        Excluded::Skip => None,
        Excluded::NextWorkingDay => day.iter_days().skip(1).take(FARTHEST).find(|day| !is_excluded(calendars, *day)),
    }
}

/// The first instant of the day after, or one shortly after it where the clocks change at midnight.
fn start_of_next(day: NaiveDate, zone: Zone) -> Option<Millis> {
    let midnight = day.checked_add_days(Days::new(1))?.and_time(NaiveTime::MIN);
    (0..24)
        .filter_map(|hours| {
            let time = midnight + chrono::TimeDelta::hours(hours);
            time.and_local_timezone(zone).earliest()
        })
        .map(|time| time.timestamp_millis())
        .next()
}
