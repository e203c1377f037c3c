//! What should be on record of a job's instants, and what is: the pure half of the audit.

use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Included};
use std::panic::{AssertUnwindSafe, catch_unwind};

use carillon_scheduler::{Millis, Schedule};

use crate::audit::difference::{Difference, GapKind, GapReason};
use carillon_store::job::history::{DefinitionVersion, VersionRules};
use carillon_store::run::view::records::Records;

/// A job and the span that is looked at: after `from`, up to and including `to`.
pub struct CompareInput<'a> {
    pub job_id: i64,
    pub from: Millis,
    pub to: Millis,
    /// Its first instant that is not planned yet, read before the records were.
    pub cursor: Option<Millis>,
    /// For a job that the engine has paused: where planning goes on.
    pub resume_from: Option<Millis>,
    /// The job is deleted: its cursor is no longer known.
    pub is_deleted: bool,
    /// The definitions of the span, the oldest first.
    pub eras: &'a [Era],
    pub records: &'a Records,
    /// How many instants are computed before the comparison ends early.
    pub budget: usize,
}

/// A definition, with what its records depend on beside it.
pub struct Era {
    pub version: DefinitionVersion,
    /// Up to this instant there may be records of the definition before.
    pub kept: Option<Millis>,
    /// Of a schedule with `max_fires`. The job's own count of the fires that are left is what the audit checks, so it proves
    /// nothing here.
    pub limit: Option<FireLimit>,
}

/// How many fires of a schedule with `max_fires` are on record, counted from the schedule's start.
#[derive(Clone, Copy, Debug)]
pub struct FireLimit {
    /// Fires that it may have had, and that are not on record: 0 where that is not known.
    pub lacking: usize,
    /// Its last fire on record, or its start.
    pub last: Millis,
    /// Instants after `last` that are recorded as skipped.
    pub skipped: usize,
    /// Why it has no fire beyond these.
    pub reason: GapReason,
}

/// Instants that are worked out to find the last one of a schedule.
const MOST_LACKING: usize = 10_000;

impl FireLimit {
    /// Instants after this one are none of the schedule's. `from`: since when its definition is in force, as what it went through
    /// while it was disabled is no fire.
    fn end(&self, schedule: &Schedule, from: Millis) -> Millis {
        let beyond = self.lacking + self.skipped;
        if self.lacking == 0 || beyond > MOST_LACKING {
            return if self.lacking == 0 { self.last } else { Millis::MAX };
        }
        let instants = catch_unwind(AssertUnwindSafe(|| schedule.following(self.last.max(from), beyond)));
        instants.ok().and_then(|instants| instants.last().copied()).unwrap_or(Millis::MAX)
    }
}

/// All differences, the earliest first, and up to where it was looked.
pub fn compare(input: &CompareInput<'_>) -> (Vec<Difference>, Millis) {
    let mut found = Differences::default();
    let mut budget = input.budget;
    for (index, era) in input.eras.iter().enumerate() {
        let Era { version, kept, .. } = era;
        let span = Span {
            after: input.from.max(version.from),
            to: input.to.min(version.to.unwrap_or(input.to)),
            kept: *kept,
            is_last: index + 1 == input.eras.len() && !input.is_deleted,
            end: era
                .limit
                .zip(version.schedule())
                .map_or(Millis::MAX, |(limit, schedule)| limit.end(schedule, version.from)),
        };
        if span.after >= span.to {
            continue;
        }
        let later = input.eras.get(index + 1).map(|era| &era.version);
        if let Some(reached) = compare_version(input, era, later, &span, &mut budget, &mut found) {
            return (found.finish(input.job_id), reached);
        }
    }
    (found.finish(input.job_id), input.to)
}

/// The part of an era that is looked at.
struct Span {
    after: Millis,
    to: Millis,
    kept: Option<Millis>,
    is_last: bool,
    /// The last instant that the schedule may have by its limit of fires.
    end: Millis,
}

/// Some: there are too many instants, and it was looked up to this one.
fn compare_version(
    input: &CompareInput<'_>,
    era: &Era,
    later: Option<&DefinitionVersion>,
    span: &Span,
    budget: &mut usize,
    found: &mut Differences,
) -> Option<Millis> {
    let records = input.records;
    let Some(schedule) = era.version.schedule() else {
        let reason = match era.version.rules {
            VersionRules::Broken { .. } => GapReason::Unplannable,
            _ => GapReason::Unknown,
        };
        found.unlooked(span.after + 1, span.to, reason);
        return None;
    };
    if schedule.is_delay() {
        return None;
    }
    let (expected, reached) = expected(schedule, span, budget)?;
    let mut lacking = era.limit.map(|limit| limit.lacking);
    for at in &expected {
        let in_range = records.ranges.iter().any(|range| (range.from_at..=range.to_at).contains(at));
        match (records.fires.contains(at), in_range) {
            (true, true) => found.add(*at, GapKind::Twice, GapReason::Unexplained),
            (false, false) => {
                let is_over = *at > span.end || lacking == Some(0);
                let reason = missing(input, era, later, span, (*at, is_over));
                if reason == GapReason::Unexplained {
                    lacking = lacking.map(|lacking| lacking.saturating_sub(1));
                }
                found.add(*at, GapKind::Missing, reason);
            }
            _ => found.whole(*at),
        }
    }
    for at in between(&records.fires, span.after, reached.unwrap_or(span.to)) {
        if expected.binary_search(at).is_err() && !is_resumed(later, &era.version, *at) {
            let reason = match span.kept.is_some_and(|kept| *at <= kept) {
                true => GapReason::Edited,
                false => GapReason::Unexplained,
            };
            found.add(*at, GapKind::Extra, reason);
        }
    }
    reached
}

/// Instants after one, up to and including another.
fn between(fires: &BTreeSet<Millis>, after: Millis, to: Millis) -> impl Iterator<Item = &Millis> {
    fires.range((Excluded(after), Included(to.max(after))))
}

type Expected = (Vec<Millis>, Option<Millis>);

/// The instants of a span; None: they cannot be worked out at all.
fn expected(schedule: &Schedule, span: &Span, budget: &mut usize) -> Option<Expected> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut instants = vec![];
        let mut at = span.after;
        while let Some(next) = schedule.next_after(at).filter(|next| *next <= span.to) {
            if *budget == 0 {
                return (instants, Some(at));
            }
            *budget -= 1;
            instants.push(next);
            at = next;
        }
        (instants, None)
    }))
    .ok()
}

/// `is_over`: the schedule has no fire so late, by its limit of fires.
fn missing(
    input: &CompareInput<'_>,
    era: &Era,
    later: Option<&DefinitionVersion>,
    span: &Span,
    (at, is_over): (Millis, bool),
) -> GapReason {
    let has_later_record = between(&input.records.fires, at, span.to).next().is_some();
    let used_up = era.limit.filter(|_| is_over && !has_later_record).map(|limit| limit.reason);
    if !era.version.is_enabled() {
        return GapReason::Disabled;
    }
    if input.records.pruned_to.is_some_and(|pruned| at <= pruned) {
        return GapReason::Pruned;
    }
    if span.kept.is_some_and(|kept| at <= kept) {
        return GapReason::Edited;
    }
    if span.is_last {
        return match input.cursor {
            Some(cursor) if at >= cursor => GapReason::NotPlanned,
            None => used_up.unwrap_or(GapReason::Unexplained),
            _ => GapReason::Unexplained,
        };
    }
    let is_paused = later.and_then(|later| later.begun_by.as_ref()).is_some_and(|change| change.action == "pause");
    let resumes = input.resume_from.map_or(input.is_deleted, |from| at >= from);
    if is_paused && !has_later_record && resumes {
        return GapReason::Paused;
    }
    used_up.unwrap_or(GapReason::Unexplained)
}

/// What a job went through while the engine had paused it is recorded when it goes on, by its later definition.
fn is_resumed(later: Option<&DefinitionVersion>, era: &DefinitionVersion, at: Millis) -> bool {
    let goes_on = |later: &DefinitionVersion| {
        let fits = |schedule: &Schedule| schedule.next_after(at - 1) == Some(at);
        later.is_enabled() && later.schedule().is_some_and(fits)
    };
    !era.is_enabled() && later.is_some_and(goes_on)
}

/// Neighbours of one kind become one.
#[derive(Default)]
struct Differences {
    list: Vec<Difference>,
    /// An instant without a difference lies behind the last one.
    is_closed: bool,
}

impl Differences {
    fn add(&mut self, at: Millis, kind: GapKind, reason: GapReason) {
        match self.list.last_mut() {
            Some(last) if !self.is_closed && (last.kind, last.reason) == (kind, reason) && last.to <= at => {
                last.to = at;
                last.count += 1;
            }
            _ => self.list.push(Difference { job_id: 0, from: at, to: at, count: 1, kind, reason }),
        }
        self.is_closed = false;
    }

    fn whole(&mut self, _at: Millis) {
        self.is_closed = true;
    }

    fn unlooked(&mut self, from: Millis, to: Millis, reason: GapReason) {
        self.list.push(Difference { job_id: 0, from, to, count: 0, kind: GapKind::Unlooked, reason });
        self.is_closed = true;
    }

    fn finish(mut self, job_id: i64) -> Vec<Difference> {
        for difference in &mut self.list {
            difference.job_id = job_id;
        }
        self.list.sort_by_key(|difference| difference.from);
        self.list
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
