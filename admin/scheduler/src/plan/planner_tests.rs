use super::misfire::{CatchUp, MisfirePolicy};
use super::plan_input::PlanInput;
use super::planner::{Plan, plan};
use super::skipped::{SkipReason, Skipped};
use crate::schedule::{Schedule, ScheduleContext, ScheduleDraft};
use crate::time::Millis;

pub(super) const NOW: Millis = 1_735_689_600_000;
const MINUTE: i64 = 60_000;

pub(super) fn every(seconds: i64) -> Schedule {
    Schedule::parse(&ScheduleDraft::fixed_rate(seconds), &ScheduleContext::from_anchor(0)).unwrap()
}

pub(super) fn cron(expression: &str, zone: &str) -> Schedule {
    let draft = ScheduleDraft::cron(expression, zone);
    Schedule::parse(&draft, &ScheduleContext::from_anchor(0)).unwrap()
}

pub(super) fn timing(schedule: &Schedule, catch_up: CatchUp, misfire: MisfirePolicy) -> PlanInput<'_> {
    PlanInput { schedule, catch_up, misfire, misfire_threshold_ms: MINUTE, ..PlanInput::new(schedule) }
}

pub(super) fn skipped(from_at: Millis, to_at: Millis, count: u32, reason: SkipReason) -> Skipped {
    Skipped { from_at, to_at, count, reason }
}

// covers: 003-19
#[test]
fn future_instants_fire_up_to_the_horizon() {
    let schedule = every(2);
    let timing = timing(&schedule, CatchUp::All, MisfirePolicy::FireOnce);
    let plan = plan(&timing, NOW, NOW, NOW + 5_000, 100);
    assert_eq!(plan.fires, [NOW, NOW + 2_000, NOW + 4_000]);
    assert_eq!(plan.next_fire_at, Some(NOW + 6_000));
    assert!(plan.skipped.is_empty());
}

// covers: 003-17
#[test]
fn after_120_s_every_instant_runs_or_is_in_a_range() {
    let schedule = every(10);
    for &misfire in MisfirePolicy::ALL {
        for &catch_up in CatchUp::ALL {
            let timing = timing(&schedule, catch_up, misfire);
            let plan = plan(&timing, NOW - 119_000, NOW, NOW, 1_000);
            let counted: u32 = plan.skipped.iter().map(|range| range.count).sum();
            // 12 instants in the 120 s before now, and now itself.
            assert_eq!(plan.fires.len() as u32 + counted, 13, "{misfire} {catch_up}");
        }
    }
}

// covers: 003-17
#[test]
fn a_single_instant_90_s_back() {
    let schedule = cron("0 58 23 31 12 ? 2024", "UTC");
    let instant = NOW - 2 * MINUTE;
    let now = instant + 90_000;
    let skip = plan(&timing(&schedule, CatchUp::All, MisfirePolicy::Skip), instant, now, now + 5_000, 10);
    assert!(skip.fires.is_empty());
    assert_eq!(skip.skipped, [skipped(instant, instant, 1, SkipReason::Misfire)]);
    let once = plan(&timing(&schedule, CatchUp::All, MisfirePolicy::FireOnce), instant, now, now + 5_000, 10);
    assert_eq!((once.fires, once.skipped, once.next_fire_at), (vec![instant], vec![], None));
}

// covers: 003-18
#[test]
fn a_stall_of_4_s_is_caught_up() {
    let schedule = every(1);
    let (cursor, now) = (NOW - 4_000, NOW - 500);
    let all = plan(&timing(&schedule, CatchUp::All, MisfirePolicy::FireOnce), cursor, now, NOW, 100);
    assert_eq!(all.fires, [-4_000, -3_000, -2_000, -1_000, 0].map(|ms| NOW + ms));
    let latest = plan(&timing(&schedule, CatchUp::Latest, MisfirePolicy::FireOnce), cursor, now, NOW, 100);
    assert_eq!(latest.fires, [NOW - 1_000, NOW]);
    assert_eq!(latest.skipped, [skipped(NOW - 4_000, NOW - 2_000, 3, SkipReason::Coalesced)]);
}

// covers: 001-4
#[test]
fn a_scan_that_comes_3_s_late_misses_nothing() {
    let schedule = every(1);
    let timing = timing(&schedule, CatchUp::All, MisfirePolicy::FireOnce);
    let (mut cursor, mut fires) = (NOW, vec![]);
    for second in [0, 1, 2, 5, 6] {
        let now = NOW + second * 1_000;
        let plan = plan(&timing, cursor, now, now + 500, 100);
        fires.extend(plan.fires);
        cursor = plan.next_fire_at.unwrap();
    }
    assert_eq!(fires, (0..=6).map(|second| NOW + second * 1_000).collect::<Vec<_>>());
}

#[test]
fn the_threshold_itself_is_not_a_misfire() {
    let schedule = every(60);
    let timing = timing(&schedule, CatchUp::All, MisfirePolicy::Skip);
    assert_eq!(plan(&timing, NOW - MINUTE, NOW, NOW - 1, 9).fires, [NOW - MINUTE]);
    assert!(plan(&timing, NOW - MINUTE, NOW + 1, NOW - 1, 9).fires.is_empty());
}

#[test]
fn fire_once_gives_way_to_a_later_instant_of_the_same_plan() {
    let schedule = every(300);
    let timing = timing(&schedule, CatchUp::All, MisfirePolicy::FireOnce);
    let (cursor, now) = (NOW - 900_000, NOW - 4_000);
    let later = plan(&timing, cursor, now, NOW, 9);
    assert_eq!(later.fires, [NOW]);
    assert_eq!(later.skipped, [skipped(NOW - 900_000, NOW - 300_000, 3, SkipReason::Misfire)]);
    let alone = plan(&timing, cursor, now, NOW - 1, 9);
    assert_eq!(alone.fires, [NOW - 300_000]);
    assert_eq!(alone.skipped, [skipped(NOW - 900_000, NOW - 600_000, 2, SkipReason::Misfire)]);
}

#[test]
fn a_limit_stops_and_the_next_plan_continues() {
    let schedule = every(1);
    let timing = timing(&schedule, CatchUp::All, MisfirePolicy::FireOnce);
    let first = plan(&timing, NOW, NOW, NOW + 10_000, 4);
    assert_eq!((first.fires.len(), first.next_fire_at), (4, Some(NOW + 4_000)));
    assert_eq!(plan(&timing, NOW, NOW, NOW, 0), Plan { next_fire_at: Some(NOW), ..Plan::default() });
}

// covers: 6.21
#[test]
fn a_year_of_misfires_is_one_range_and_stops_nothing() {
    let year = 365 * 86_400_000;
    for schedule in [every(1), cron("* * * * * ?", "America/New_York")] {
        let fire_once = timing(&schedule, CatchUp::All, MisfirePolicy::FireOnce);
        let later = plan(&fire_once, NOW - year, NOW, NOW, 100);
        assert_eq!(later.skipped, [skipped(NOW - year, NOW - 61_000, 10_000, SkipReason::Misfire)]);
        assert_eq!((later.fires.len(), later.next_fire_at), (61, Some(NOW + 1_000)));
        let alone = plan(&fire_once, NOW - year, NOW, NOW - 61_000, 100);
        assert_eq!(alone.skipped, [skipped(NOW - year, NOW - 62_000, 10_000, SkipReason::Misfire)]);
        assert_eq!((alone.fires, alone.next_fire_at), (vec![NOW - 61_000], Some(NOW - 60_000)));
    }
}

#[test]
fn the_count_is_exact_up_to_its_limit() {
    let schedule = every(1);
    for count in [1, 2, 9_999, 10_000, 10_001, 10_002] {
        let from = NOW - 61_000 - (count - 1) * 1_000;
        let skip = timing(&schedule, CatchUp::All, MisfirePolicy::Skip);
        assert_eq!(plan(&skip, from, NOW, NOW, 1).skipped[0].count as i64, count.min(10_000));
        let once = timing(&schedule, CatchUp::All, MisfirePolicy::FireOnce);
        let alone = plan(&once, from, NOW, NOW - 61_000, 1);
        assert_eq!(alone.fires, [NOW - 61_000]);
        let counted = alone.skipped.first().map_or(0, |range| i64::from(range.count));
        assert_eq!(counted, (count - 1).min(10_000));
    }
}
