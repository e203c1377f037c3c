//! What a schedule will do, saved or not: its next instants, what calendars leave out or move, where its spread puts it,
//! and what happens when the clocks change. The API and the console show the same.

mod clocks;
mod days;
mod unsaved;

use carillon_scheduler::{KindDraft, Millis, Schedule, ScheduleContext, ScheduleDraft};
use chrono::{DateTime, FixedOffset, Offset as _};
use chrono_tz::Tz;

use crate::pipeline::Chosen;
use crate::store::{Calendars, Job};

pub use days::ExcludedDay;
pub use unsaved::{Error, from_now, nobody, of_draft};

/// What is to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Instants after it.
    pub from: Millis,
    pub count: usize,
    /// So many fires are left after `now`; None: no limit.
    pub fires_left: Option<u32>,
    pub now: Millis,
}

/// What a schedule will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Whose wall clock it goes by; UTC for kinds that have none.
    pub zone: Tz,
    pub fires: Vec<Millis>,
    /// There are no more than these.
    pub ends: bool,
    pub spread: Option<Spread>,
    pub excluded: Vec<ExcludedDay>,
    /// Sentences.
    pub notes: Vec<String>,
}

/// Where a spread puts the job, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    pub seconds: u32,
    pub offset_seconds: u32,
    pub why: String,
}

/// The wall clock that a schedule goes by.
pub fn zone(draft: &ScheduleDraft) -> Tz {
    match &draft.kind {
        KindDraft::Cron(cron) | KindDraft::UnixCron(cron) => cron.timezone.trim().parse(),
        KindDraft::Daily(daily) => daily.timezone.trim().parse(),
        _ => Ok(Tz::UTC),
    }
    .unwrap_or(Tz::UTC)
}

/// An instant on that wall clock.
pub fn local(at: Millis, zone: Tz) -> DateTime<FixedOffset> {
    let utc = DateTime::from_timestamp_millis(at).unwrap_or_default();
    let local = utc.with_timezone(&zone);
    local.with_timezone(&local.offset().fix())
}

/// Looks ahead. `chosen`: how the offset of the schedule's spread was found, if that was just now.
pub fn preview(schedule: &Schedule, calendars: &Calendars, chosen: Option<Chosen>, span: Span) -> Preview {
    let draft = schedule.draft();
    let zone = zone(&draft);
    let count = span.count.min(left_at(schedule, span));
    let fires = schedule.following(span.from, count);
    let mut notes = clocks::notes(schedule, calendars.list(), span.from);
    if schedule.is_delay() {
        notes.push(
            "Each fire counts from the end of the run before; these times are those of runs that take no time.".into(),
        );
    }
    Preview {
        zone,
        ends: fires.len() < span.count,
        spread: spread(schedule, &draft, chosen),
        excluded: days::excluded(schedule, calendars.list(), span.from, fires.last().copied()),
        notes,
        fires,
    }
}

/// Of a job that is there.
///
/// # Errors
/// What was stored is no schedule (any more).
pub fn of_job(job: &Job, from: Millis, count: usize, now: Millis) -> Result<Preview, carillon_scheduler::FieldError> {
    let span = Span { from, count, fires_left: job.fires_left.map(i32::unsigned_abs), now };
    Ok(preview(&job.schedule()?, &job.calendars, None, span))
}

/// How many fires a job that may fire so often more has left at the beginning of the span.
fn left_at(schedule: &Schedule, span: Span) -> usize {
    /// Beyond so many it is assumed that some are left.
    const MOST: usize = 100_000;
    let Some(left) = span.fires_left else {
        return usize::MAX;
    };
    if span.from <= span.now {
        return left as usize;
    }
    let first = schedule.first_after(span.now);
    let until = std::iter::successors(first, |at| schedule.first_after(*at))
        .take_while(|at| *at <= span.from)
        .take(MOST.min(left as usize));
    (left as usize) - until.count()
}

fn spread(schedule: &Schedule, draft: &ScheduleDraft, chosen: Option<Chosen>) -> Option<Spread> {
    if draft.spread_seconds == 0 {
        return None;
    }
    let seconds = draft.spread_seconds;
    let offset_seconds = schedule.spread_offset_seconds().unsigned_abs() as u32;
    let why = match chosen {
        Some(chosen) => format!(
            "Any second within {seconds} s will do. {offset_seconds} s later is where the least happens: the next {} \
             instants meet {} other fires there, and would meet {} without an offset.",
            chosen.instants, chosen.met, chosen.met_without
        ),
        None => format!(
            "Any second within {seconds} s will do. {offset_seconds} s later was where the least happened when this was \
             chosen; it stays so."
        ),
    };
    Some(Spread { seconds, offset_seconds, why })
}

/// The same kind of schedule without calendars, spread and validity, perhaps on another clock.
fn bare(schedule: &Schedule, zone: Option<&str>) -> Option<Schedule> {
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

#[cfg(test)]
mod tests;
