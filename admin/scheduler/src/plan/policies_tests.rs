//! Missed instants under each policy, fixed delays, and jobs with a limited number of fires.

use super::misfire::{CatchUp, MisfirePolicy};
use super::plan_input::PlanInput;
use super::planner::{Plan, plan};
use super::planner_tests::{NOW, cron, every, skipped, timing};
use super::skipped::SkipReason;
use crate::schedule::{Schedule, ScheduleContext, ScheduleDraft};

fn with(schedule: &Schedule, misfire: MisfirePolicy) -> PlanInput<'_> {
    timing(schedule, CatchUp::All, misfire)
}

fn delay(seconds: i64) -> Schedule {
    Schedule::parse(&ScheduleDraft::fixed_delay(seconds), &ScheduleContext::from_anchor(0)).unwrap()
}

// covers: 003-17
#[test]
fn fire_all_runs_the_latest_so_many() {
    let schedule = every(10);
    let mut timing = with(&schedule, MisfirePolicy::FireAll);
    timing.misfire_limit = 3;
    let plan = plan(&timing, NOW - 120_000, NOW, NOW - 1, 100);
    // Missed: 120 s to 70 s back. The threshold itself, 60 s, is not.
    assert_eq!(plan.skipped, [skipped(NOW - 120_000, NOW - 100_000, 3, SkipReason::Misfire)]);
    assert_eq!((plan.fires[0], plan.fires.len()), (NOW - 90_000, 9));
    assert_eq!(plan.next_fire_at, Some(NOW));
}

// covers: 003-17
#[test]
fn fire_within_runs_instants_within_the_window() {
    let schedule = every(10);
    let mut timing = with(&schedule, MisfirePolicy::FireWithin);
    timing.misfire_window_ms = 80_000;
    let all = plan(&timing, NOW - 120_000, NOW, NOW - 1, 100);
    assert_eq!(all.skipped, [skipped(NOW - 120_000, NOW - 90_000, 4, SkipReason::Misfire)]);
    assert_eq!((all.fires[0], all.fires.len()), (NOW - 80_000, 8));
    timing.misfire_window_ms = 1_000;
    let none = plan(&timing, NOW - 120_000, NOW, NOW - 61_000, 100);
    assert_eq!(
        (none.fires.len(), none.skipped[0].count, none.next_fire_at),
        (0, 6, Some(NOW - 60_000)),
        "a window below the threshold: no missed one runs"
    );
}

// covers: 003-17
#[test]
fn one_instant_90_s_back_under_each_policy() {
    let schedule = Schedule::parse(&ScheduleDraft::once(NOW), &ScheduleContext::from_anchor(0)).unwrap();
    for (misfire, window_ms, fires) in [
        (MisfirePolicy::Skip, 3_600_000, 0),
        (MisfirePolicy::FireOnce, 3_600_000, 1),
        (MisfirePolicy::FireAll, 3_600_000, 1),
        (MisfirePolicy::FireWithin, 90_000, 1),
        (MisfirePolicy::FireWithin, 89_000, 0),
    ] {
        let mut timing = with(&schedule, misfire);
        timing.misfire_window_ms = window_ms;
        let plan = plan(&timing, NOW, NOW + 90_000, NOW + 95_000, 100);
        assert_eq!(plan.fires.len(), fires, "{misfire} {window_ms}");
        assert_eq!(plan.fires.len() + plan.skipped.len(), 1);
        assert_eq!(plan.next_fire_at, None);
    }
}

// covers: 6.21
#[test]
fn a_year_of_misfires_under_fire_all_and_fire_within() {
    let year = 365 * 86_400_000;
    for schedule in [every(1), cron("* * * * * ?", "America/New_York")] {
        let mut timing = with(&schedule, MisfirePolicy::FireAll);
        timing.misfire_limit = 1_000;
        let first = NOW - 61_000 - 999_000;
        let all = plan(&timing, NOW - year, NOW, NOW, 5_000);
        assert_eq!((all.fires[0], all.fires.len()), (first, 1_000 + 61));
        assert_eq!(all.skipped[0].to_at, first - 1_000);
        timing.misfire = MisfirePolicy::FireWithin;
        timing.misfire_window_ms = 1_060_000;
        assert_eq!(plan(&timing, NOW - year, NOW, NOW, 5_000), all);
    }
}

/// Bursts with years between them: the search back must not visit the time between them, nor a whole burst.
#[test]
fn the_latest_of_many_bursts_are_found_quickly() {
    let schedule = cron("* * * 29 2 ?", "UTC");
    let mut timing = with(&schedule, MisfirePolicy::FireAll);
    let first = schedule.next_after(0).unwrap();
    for limit in [1, 2, 1_000] {
        timing.misfire_limit = limit;
        let last = plan(&timing, first, NOW, NOW, limit as usize);
        // 2024-02-29T23:59:59Z
        assert_eq!(last.fires.last(), Some(&1_709_251_199_000));
        assert_eq!(last.fires[0], 1_709_251_199_000 - i64::from(limit - 1) * 1_000);
        assert_eq!(last.skipped[0].to_at, last.fires[0] - 1_000);
    }
}

#[test]
fn latest_coalesces_late_instants_but_not_missed_ones() {
    let schedule = every(10);
    let mut timing = timing(&schedule, CatchUp::Latest, MisfirePolicy::FireAll);
    timing.misfire_limit = 2;
    let plan = plan(&timing, NOW - 120_000, NOW - 1, NOW - 1, 100);
    assert_eq!(plan.fires, [-80_000, -70_000, -10_000].map(|ms| NOW + ms));
    assert_eq!(
        plan.skipped,
        [
            skipped(NOW - 120_000, NOW - 90_000, 4, SkipReason::Misfire),
            skipped(NOW - 60_000, NOW - 20_000, 5, SkipReason::Coalesced),
        ]
    );
}

#[test]
fn after_the_last_fire_nothing_is_left() {
    let schedule = every(10);
    let mut timing = with(&schedule, MisfirePolicy::Skip);
    timing.fires_left = Some(2);
    let last = plan(&timing, NOW - 120_000, NOW, NOW + 60_000, 100);
    assert_eq!(last.fires, [NOW - 60_000, NOW - 50_000]);
    assert_eq!(last.skipped.len(), 1, "skipped ones do not count");
    assert_eq!(last.next_fire_at, None);
    timing.fires_left = Some(0);
    assert_eq!(plan(&timing, NOW, NOW, NOW + 60_000, 100), Plan::default());
    timing.fires_left = Some(100);
    assert!(plan(&timing, NOW, NOW, NOW + 60_000, 100).next_fire_at.is_some());
}

// covers: 001-13
#[test]
fn a_fixed_delay_has_one_instant_and_then_waits_for_its_end() {
    let schedule = delay(30);
    for &misfire in MisfirePolicy::ALL {
        let on_time = plan(&with(&schedule, misfire), NOW, NOW, NOW + 5_000, 100);
        assert_eq!((on_time.fires, on_time.next_fire_at), (vec![NOW], None));
        let late = plan(&with(&schedule, misfire), NOW, NOW + 90_000, NOW + 95_000, 100);
        if misfire == MisfirePolicy::Skip {
            // No run will end, so the next delay starts now.
            assert_eq!(late.skipped, [skipped(NOW, NOW, 1, SkipReason::Misfire)]);
            assert_eq!(late.next_fire_at, Some(NOW + 120_000));
        } else {
            assert_eq!((late.fires, late.next_fire_at), (vec![NOW], None), "{misfire}");
        }
    }
    let short = delay(2);
    let late = plan(&with(&short, MisfirePolicy::Skip), NOW, NOW + 90_000, NOW + 95_000, 100);
    assert_eq!(late.fires, [NOW + 92_000], "ahead, but inside the same plan");
}
