//! When a loop fires, as each renewal tells its executor: executors parse no schedules.

use std::time::Duration;

use carillon_protocol::LoopTiming;
use carillon_scheduler::{KindDraft, Millis, Schedule};

use crate::settings::ms;

/// How far ahead instants are listed: longer than a lease lasts, so that the list does not end before the lease.
const AHEAD: Duration = Duration::from_secs(10);
/// How far back: an instant between two answers is in the later one. The executor skips those that it has had.
const BEHIND: Duration = Duration::from_secs(5);
/// From a renewal to the next one, about.
const RENEWAL: Duration = Duration::from_millis(1_500);
/// Instants of one answer; more than a period of 50 ms has in that time.
const MOST: usize = 400;

/// By the schedule at a time. A plain rate or delay is what it is; all others, and the ends of validity, are lists of instants.
pub(super) fn timing(schedule: &Schedule, now: Millis) -> LoopTiming {
    let draft = schedule.draft();
    let until = now.saturating_add(ms(AHEAD));
    let is_bare = draft.calendars.is_empty() && schedule.spread_offset_seconds() == 0;
    let is_valid = draft.start_at.is_none_or(|start| start <= now) && draft.end_at.is_none_or(|end| end > until);
    match draft.kind {
        KindDraft::FixedRate { seconds } if is_bare && is_valid => {
            LoopTiming::Rate { period_ms: period(seconds), from: schedule.anchor_at() }
        }
        KindDraft::FixedPeriod { milliseconds } if is_bare && is_valid => {
            let period_ms = u32::try_from(milliseconds).unwrap_or(u32::MAX);
            LoopTiming::Rate { period_ms, from: schedule.anchor_at() }
        }
        KindDraft::FixedDelay { seconds } => delay(schedule, period(seconds), now),
        _ => {
            let first = schedule.next_after(now.saturating_sub(ms(BEHIND)));
            let following = std::iter::successors(first, |last| schedule.next_after(*last));
            LoopTiming::Instants { at: following.take_while(|at| *at <= until).take(MOST).collect() }
        }
    }
}

/// It goes on where calls may begin now and until the next renewal: it ends there, before calendars or the end of the validity exclude one.
fn delay(schedule: &Schedule, delay_ms: u32, now: Millis) -> LoopTiming {
    let spread_ms = schedule.spread_offset_seconds() * 1_000;
    let is_open = |t: Millis| {
        let at = schedule.after_end(t.saturating_sub(spread_ms).saturating_sub(delay_ms.into()));
        // Instants are whole seconds.
        at.is_some_and(|at| at <= t.saturating_add(1_000))
    };
    match is_open(now) && is_open(now.saturating_add(ms(RENEWAL))) {
        true => LoopTiming::Delay { delay_ms },
        false => LoopTiming::Instants { at: vec![] },
    }
}

fn period(seconds: i64) -> u32 {
    u32::try_from(seconds.saturating_mul(1_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use carillon_scheduler::{Calendar, ScheduleContext, ScheduleDraft, Weekday};

    use super::*;

    const NOW: Millis = 1_760_000_000_400;

    fn timing_of(draft: ScheduleDraft) -> LoopTiming {
        let schedule = Schedule::parse(&draft, &ScheduleContext::from_anchor(1_760_000_000_000)).unwrap();
        timing(&schedule, NOW)
    }

    fn rate(seconds: i64) -> ScheduleDraft {
        KindDraft::FixedRate { seconds }.into()
    }

    #[test]
    fn a_plain_rate_and_a_delay_are_what_they_are() {
        assert_eq!(timing_of(rate(2)), LoopTiming::Rate { period_ms: 2_000, from: 1_760_000_000_000 });
        let fast = KindDraft::FixedPeriod { milliseconds: 50 };
        assert_eq!(timing_of(fast.into()), LoopTiming::Rate { period_ms: 50, from: 1_760_000_000_000 });
        let delay = ScheduleDraft::from(KindDraft::FixedDelay { seconds: 3 });
        assert_eq!(timing_of(delay), LoopTiming::Delay { delay_ms: 3_000 });
    }

    #[test]
    fn a_delay_stands_still_where_no_call_may_begin() {
        let delay = ScheduleDraft::from(KindDraft::FixedDelay { seconds: 3 });
        let (goes_on, stands_still) = (LoopTiming::Delay { delay_ms: 3_000 }, LoopTiming::Instants { at: vec![] });
        let starting = |in_ms| timing_of(ScheduleDraft { start_at: Some(NOW + in_ms), ..delay.clone() });
        assert_eq!((starting(60_000), starting(-400)), (stands_still.clone(), goes_on.clone()));
        let ending = |in_ms| timing_of(ScheduleDraft { end_at: Some(NOW + in_ms), ..delay.clone() });
        assert_eq!((ending(600), ending(3_600)), (stands_still.clone(), goes_on.clone()));
        // The instant is a Thursday.
        let without = |weekday| {
            let calendar = Arc::new(Calendar {
                name: "days".into(),
                title: String::new(),
                weekdays: [weekday].into(),
                days: Default::default(),
                extra: Default::default(),
            });
            let context = ScheduleContext { calendars: &[calendar], ..ScheduleContext::from_anchor(NOW - 400) };
            let draft = ScheduleDraft { calendars: vec!["days".into()], ..delay.clone() };
            timing(&Schedule::parse(&draft, &context).unwrap(), NOW)
        };
        assert_eq!((without(Weekday::Thu), without(Weekday::Sun)), (stands_still, goes_on));
    }

    #[test]
    fn other_schedules_are_lists_of_the_last_5_and_the_next_10_s() {
        let seconds =
            |list: &[i64]| LoopTiming::Instants { at: list.iter().map(|it| 1_760_000_000_000 + it * 1_000).collect() };
        assert_eq!(timing_of(ScheduleDraft::cron("0/4 * * * * ?", "UTC")), seconds(&[-4, 0, 4, 8]));
        let ending = ScheduleDraft { end_at: Some(NOW + 5_000), ..rate(2) };
        assert_eq!(timing_of(ending), seconds(&[2, 4]));
        let starting = ScheduleDraft { start_at: Some(NOW + 5_000), ..rate(2) };
        assert_eq!(timing_of(starting), seconds(&[6, 8, 10]));
    }
}
