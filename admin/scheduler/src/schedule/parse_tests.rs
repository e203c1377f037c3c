use std::sync::Arc;

use super::draft::{KindDraft, ScheduleDraft};
use super::instants::{Schedule, ScheduleContext};
use crate::calendar::{Calendar, Excluded, Weekday};
use crate::time::{Millis, format_rfc3339};

pub(super) const NOW: Millis = 1_751_641_200_000; // Friday, 2025-07-04T15:00:00Z
const DAY: i64 = 86_400_000;

pub(super) fn calendar(name: &str) -> Calendar {
    Calendar {
        name: name.into(),
        title: String::new(),
        weekdays: Default::default(),
        days: Default::default(),
        extra: Default::default(),
    }
}

fn weekend() -> Arc<Calendar> {
    Arc::new(Calendar { weekdays: [Weekday::Sat, Weekday::Sun].into(), ..calendar("weekend") })
}

pub(super) fn parse(draft: &ScheduleDraft, calendars: &[Arc<Calendar>], offset: u32) -> Schedule {
    let facts = ScheduleContext { anchor_at: NOW, spread_offset_seconds: offset, calendars };
    Schedule::parse(draft, &facts).unwrap_or_else(|error| panic!("{error}"))
}

fn texts(instants: impl IntoIterator<Item = Millis>) -> Vec<String> {
    instants.into_iter().map(format_rfc3339).collect()
}

fn next(schedule: &Schedule, count: usize) -> Vec<String> {
    texts(schedule.following(NOW, count))
}

pub(super) fn noon() -> ScheduleDraft {
    ScheduleDraft::cron("0 0 12 * * ?", "UTC")
}

#[test]
fn calendars_come_first_then_the_offset_then_the_validity() {
    let mut draft = noon();
    draft.calendars = vec![" weekend ".into(), "weekend".into()];
    draft.spread_seconds = 86_400;
    draft.start_at = Some(NOW + DAY);
    draft.end_at = Some(NOW + 6 * DAY);
    // The offset moves Friday noon to Saturday; calendars are applied before the offset.
    let schedule = parse(&draft, &[weekend()], 72_000);
    assert_eq!(next(&schedule, 9), ["2025-07-08T08:00:00Z", "2025-07-09T08:00:00Z", "2025-07-10T08:00:00Z"]);
    assert_eq!(schedule.draft().calendars, ["weekend"], "each once");
    assert_eq!(schedule.spread_offset_seconds(), 72_000);
}

#[test]
fn an_instant_of_an_excluded_day_is_left_out_or_moved_once() {
    let mut draft = noon();
    draft.calendars = vec!["weekend".into()];
    let days = ["2025-07-07T12:00:00Z", "2025-07-08T12:00:00Z"];
    assert_eq!(next(&parse(&draft, &[weekend()], 0), 2), days);
    draft.excluded = Excluded::NextWorkingDay;
    assert_eq!(next(&parse(&draft, &[weekend()], 0), 2), days, "all three are one on Monday");
    draft.kind = ScheduleDraft::cron("0 0 9 5 * ?", "UTC").kind;
    assert_eq!(
        next(&parse(&draft, &[weekend()], 0), 3),
        ["2025-07-07T09:00:00Z", "2025-08-05T09:00:00Z", "2025-09-05T09:00:00Z"]
    );
}

#[test]
fn an_extra_day_of_any_calendar_is_not_excluded() {
    let bridge = Calendar {
        extra: ["2025-07-05".parse().unwrap()].into(),
        days: ["2025-07-07".parse().unwrap()].into(),
        ..calendar("bridge")
    };
    let mut draft = noon();
    draft.calendars = vec!["weekend".into(), "bridge".into()];
    assert_eq!(
        next(&parse(&draft, &[weekend(), Arc::new(bridge)], 0), 2),
        ["2025-07-05T12:00:00Z", "2025-07-08T12:00:00Z"]
    );
}

#[test]
fn days_are_those_of_the_schedules_zone() {
    let mut draft = ScheduleDraft::cron("0 0 6 * * ?", "Asia/Tokyo");
    draft.calendars = vec!["weekend".into()];
    // 06:00 on Monday in Tokyo is Sunday evening in UTC.
    assert_eq!(next(&parse(&draft, &[weekend()], 0), 1), ["2025-07-06T21:00:00Z"]);
}

#[test]
fn a_day_that_the_clock_skips_is_excluded_by_its_own_date() {
    // Apia had no 30th of December 2011; an instant of that day fires at the start of the 31st.
    let mut draft = ScheduleDraft::cron("0 0 12 30 12 ? 2011", "Pacific/Apia");
    draft.calendars = vec!["days".into()];
    let day = |day: &str| Calendar { days: [day.parse().unwrap()].into(), ..calendar("days") };
    let before = 1_325_000_000_000;
    let excluded = parse(&draft, &[Arc::new(day("2011-12-30"))], 0);
    assert_eq!(excluded.next_after(before), None);
    let other = parse(&draft, &[Arc::new(day("2011-12-31"))], 0);
    assert_eq!(texts(other.next_after(before)), ["2011-12-30T10:00:00Z"]);
}

#[test]
fn intervals_and_single_instants_have_calendars_too() {
    let mut draft = ScheduleDraft::fixed_rate(40_000);
    draft.calendars = vec!["weekend".into()];
    let rate = parse(&draft, &[weekend()], 0);
    assert_eq!(next(&rate, 1), ["2025-07-07T09:40:00Z"]);
    draft.kind = KindDraft::Once { at: NOW + DAY + 1 };
    assert_eq!(next(&parse(&draft, &[weekend()], 0), 1), [""; 0]);
    draft.excluded = Excluded::NextWorkingDay;
    let once = parse(&draft, &[weekend()], 0);
    assert_eq!(next(&once, 2), ["2025-07-07T15:00:01Z"], "and on a whole second");
}

// covers: 002-4
#[test]
fn a_fixed_delay_counts_from_the_end_of_a_run() {
    let delay = parse(&ScheduleDraft::fixed_delay(60), &[], 0);
    assert!(delay.is_delay());
    assert_eq!((delay.next_after(NOW), delay.first_after(NOW)), (None, Some(NOW + 60_000)));
    assert_eq!(delay.after_end(NOW + 1), Some(NOW + 61_000), "on a whole second, not before");
    // Each run takes 1.5 s: unlike a fixed rate it drifts.
    let runs = std::iter::successors(delay.first_after(NOW), |at| delay.after_end(at + 1_500));
    assert_eq!(runs.take(3).last(), Some(NOW + 60_000 + 2 * 62_000));
}

// covers: 001-13
#[test]
fn a_fixed_delay_under_calendars_and_validity() {
    let mut draft = ScheduleDraft::fixed_delay(DAY / 1_000);
    draft.calendars = vec!["weekend".into()];
    draft.start_at = Some(NOW - 1);
    let delay = parse(&draft, &[weekend()], 0);
    assert_eq!(texts(delay.after_end(NOW)), ["2025-07-07T00:00:00Z"]);
    draft.excluded = Excluded::NextWorkingDay;
    assert_eq!(texts(parse(&draft, &[weekend()], 0).after_end(NOW)), ["2025-07-07T15:00:00Z"]);
    draft.calendars.clear();
    draft.start_at = Some(NOW + 9 * DAY + 1);
    assert_eq!(parse(&draft, &[], 0).after_end(NOW), Some(NOW + 9 * DAY + 1_000));
    draft.end_at = draft.start_at;
    assert_eq!(parse(&draft, &[], 0).after_end(NOW), None);
}

#[test]
fn the_search_ends_when_a_calendar_excludes_everything() {
    let mut never = calendar("never");
    never.weekdays = Weekday::ALL.iter().copied().collect();
    let sundays = Calendar { weekdays: [Weekday::Sun].into(), ..calendar("sundays") };
    let calendars = [Arc::new(never), Arc::new(sundays)];
    for (expression, name) in [("* * * * * ?", "never"), ("0 0 9 ? * SUN", "sundays")] {
        for &excluded in Excluded::ALL {
            let mut draft = ScheduleDraft::cron(expression, "Europe/Berlin");
            draft.calendars = vec![name.into()];
            draft.excluded = excluded;
            let schedule = parse(&draft, &calendars, 0);
            // A search by seconds or days would go on for minutes.
            let found = schedule.next_after(NOW).is_some();
            assert_eq!(found, name == "sundays" && excluded == Excluded::NextWorkingDay, "{expression} {excluded}");
        }
    }
}

#[test]
fn an_offset_outside_the_spread_turns_round() {
    let mut draft = noon();
    draft.spread_seconds = 600;
    assert_eq!(next(&parse(&draft, &[], 1_217), 1), ["2025-07-05T12:00:17Z"]);
    draft.spread_seconds = 0;
    assert_eq!(next(&parse(&draft, &[], 1_217), 1), ["2025-07-05T12:00:00Z"]);
}
