//! The next instants of a schedule, and sentences about them.

use carillon_scheduler::{Millis, Schedule, ScheduleDraft, Zone};

use crate::forecast::SpreadChoice;
use crate::preview::clock_changes;
use crate::preview::excluded_days::{self, ExcludedDay};
use carillon_store::{Calendars, Job};

/// What to look at.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Instants after it.
    pub from: Millis,
    pub count: usize,
    /// How many fires are left after `now`; None: no limit.
    pub fires_left: Option<u32>,
    pub now: Millis,
}

/// What a schedule will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Whose wall clock it goes by; UTC for kinds that have none.
    pub zone: Zone,
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

/// Looks ahead. `chosen`: how the offset of the schedule's spread was found, if that was just now.
pub fn preview(schedule: &Schedule, calendars: &Calendars, chosen: Option<SpreadChoice>, span: Span) -> Preview {
    let draft = schedule.draft();
    let zone = draft.zone();
    let count = span.count.min(left_at(schedule, span));
    let fires = schedule.following(span.from, count);
    let mut notes = clock_changes::notes(schedule, calendars.list(), span.from);
    if schedule.is_delay() {
        notes.push(
            "Each fire counts from the end of the run before; these times are those of runs that take no time.".into(),
        );
    }
    Preview {
        zone,
        ends: fires.len() < span.count,
        spread: spread(schedule, &draft, chosen),
        excluded: excluded_days::excluded(schedule, calendars.list(), span.from, fires.last().copied()),
        notes,
        fires,
    }
}

/// Of a stored job.
///
/// # Errors
/// What was stored is no schedule (any more).
pub fn of_job(job: &Job, from: Millis, count: usize, now: Millis) -> Result<Preview, carillon_scheduler::FieldError> {
    let span = Span { from, count, fires_left: job.fires_left.map(i32::unsigned_abs), now };
    Ok(preview(&job.schedule()?, &job.calendars, None, span))
}

/// How many fires a job that may fire so often more has left at the beginning of the span.
fn left_at(schedule: &Schedule, span: Span) -> usize {
    /// Beyond this number it is assumed that some are left.
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

fn spread(schedule: &Schedule, draft: &ScheduleDraft, chosen: Option<SpreadChoice>) -> Option<Spread> {
    if draft.spread_seconds == 0 {
        return None;
    }
    let seconds = draft.spread_seconds;
    let offset_seconds = schedule.spread_offset_seconds().unsigned_abs() as u32;
    let why = match chosen {
        // How much happens there would tell of the jobs of other apps.
        Some(_) => {
            format!("Any second within {seconds} s will do. {offset_seconds} s later is where the least happens.")
        }
        None => format!(
            "Any second within {seconds} s will do. {offset_seconds} s later was where the least happened when this was \
             chosen; it stays so."
        ),
    };
    Some(Spread { seconds, offset_seconds, why })
}
