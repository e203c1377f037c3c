//! When a loop fires, as each renewal tells its executor: executors parse no schedules.

use std::time::Duration;

use carillon_protocol::LoopTiming;
use carillon_scheduler::{KindDraft, Millis, Schedule};

use crate::settings::ms;

/// How far ahead instants are listed: longer than a lease lasts, so that the list does not end before the lease.
const AHEAD: Duration = Duration::from_secs(10);
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
        KindDraft::FixedDelay { seconds } if is_valid => LoopTiming::Delay { delay_ms: period(seconds) },
        _ => {
            let following = std::iter::successors(schedule.next_after(now), |last| schedule.next_after(*last));
            LoopTiming::Instants { at: following.take_while(|at| *at <= until).take(MOST).collect() }
        }
    }
}

fn period(seconds: i64) -> u32 {
    u32::try_from(seconds.saturating_mul(1_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::{ScheduleContext, ScheduleDraft};

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
        assert_eq!(timing_of(delay.clone()), LoopTiming::Delay { delay_ms: 3_000 });
        let later = ScheduleDraft { start_at: Some(NOW + 60_000), ..delay };
        assert_eq!(timing_of(later), LoopTiming::Instants { at: vec![] });
    }

    #[test]
    fn other_schedules_are_lists_of_the_next_10_s() {
        let seconds =
            |list: &[i64]| LoopTiming::Instants { at: list.iter().map(|it| 1_760_000_000_000 + it * 1_000).collect() };
        assert_eq!(timing_of(ScheduleDraft::cron("0/4 * * * * ?", "UTC")), seconds(&[4, 8]));
        let ending = ScheduleDraft { end_at: Some(NOW + 5_000), ..rate(2) };
        assert_eq!(timing_of(ending), seconds(&[2, 4]));
        let starting = ScheduleDraft { start_at: Some(NOW + 5_000), ..rate(2) };
        assert_eq!(timing_of(starting), seconds(&[6, 8, 10]));
    }
}
