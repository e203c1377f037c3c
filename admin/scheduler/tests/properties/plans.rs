//! Plans: every instant in exactly one place, however the time is cut.

use carillon_scheduler::{CatchUp, Millis, MisfirePolicy, Plan, PlanInput, Schedule, plan};
use proptest::prelude::*;

use super::case::{Policies, case, policies};

/// The instants from `first` on, one by one, up to and including `last`.
fn instants(schedule: &Schedule, first: Millis, last: Millis) -> Vec<Millis> {
    std::iter::successors(Some(first), |&t| schedule.next_after(t)).take_while(|&t| t <= last).collect()
}

/// How often the plans record each of these instants.
fn recorded(plans: &[Plan], instants: &[Millis]) -> Vec<usize> {
    let times = |&instant: &Millis| {
        let fires = plans.iter().flat_map(|plan| &plan.fires);
        let ranges = plans.iter().flat_map(|plan| &plan.skipped);
        fires.filter(|&&fire| fire == instant).count()
            + ranges.filter(|range| (range.from_at..=range.to_at).contains(&instant)).count()
    };
    instants.iter().map(times).collect()
}

/// A step of a scheduler's life: ms that pass, ms that it looks ahead, fires that it takes at once.
type Step = (i64, i64, usize);

/// Plans step by step and counts the remaining fires, as the engine does.
fn live(schedule: &Schedule, policies: &Policies, first: Millis, steps: &[Step]) -> Vec<Plan> {
    let mut timing = policies.timing(schedule);
    let (mut now, mut at, mut plans) = (first - 1_000, Some(first), vec![]);
    for (pause, ahead, limit) in steps {
        now += pause;
        let Some(cursor) = at else { break };
        let plan = plan(&timing, cursor, now, now + ahead, *limit);
        timing.fires_left = timing.fires_left.map(|left| left - plan.fires.len() as u32);
        at = plan.next_fire_at;
        plans.push(plan);
    }
    plans
}

/// Plans one window piece by piece.
fn pieces(timing: &PlanInput<'_>, cursor: Millis, now: Millis, horizon: Millis, limit: usize) -> Plan {
    let mut timing = *timing;
    let mut all = Plan { next_fire_at: Some(cursor), ..Plan::default() };
    while let Some(cursor) = all.next_fire_at.filter(|&at| at <= horizon) {
        let piece = plan(&timing, cursor, now, horizon, limit);
        timing.fires_left = timing.fires_left.map(|left| left - piece.fires.len() as u32);
        all.fires.extend(piece.fires);
        all.skipped.extend(piece.skipped);
        all.next_fire_at = piece.next_fire_at;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_record_each_instant_once(
        case in case(),
        policies in policies(),
        steps in prop::collection::vec((0_i64..90_000, 0_i64..6_000, 1_usize..80), 1..12),
    ) {
        let schedule = case.schedule();
        let Some(first) = schedule.next_after(case.at) else { return Ok(()) };
        let plans = live(&schedule, &policies, first, &steps);
        let fires: Vec<Millis> = plans.iter().flat_map(|plan| plan.fires.iter().copied()).collect();
        prop_assert!(fires.windows(2).all(|pair| pair[0] < pair[1]), "in order, nothing twice");
        for (plan, step) in plans.iter().zip(&steps) {
            prop_assert!(plan.fires.len() <= step.2);
        }
        // After the last fire no instants exist.
        let used_up = policies.fires_left.is_some_and(|left| left as usize == fires.len());
        let last = match plans.last().and_then(|plan| plan.next_fire_at) {
            Some(next) => next - 1,
            None if used_up => fires.last().copied().unwrap_or(first - 1),
            None => Millis::MAX - 1,
        };
        prop_assert!(policies.fires_left.is_none_or(|left| fires.len() <= left as usize));
        let instants = instants(&schedule, first, last);
        prop_assert!(recorded(&plans, &instants).iter().all(|&times| times == 1));
        let skipped = plans.iter().flat_map(|plan| &plan.skipped).map(|range| range.count as usize).sum::<usize>();
        prop_assert_eq!(fires.len() + skipped, instants.len());
    }

    /// The clock jumps back and forth by up to 900 ms between two scans, over the edges of seconds too.
    // covers: 001-21
    #[test]
    fn a_clock_that_jitters_misses_nothing(
        case in case(), jitter in prop::collection::vec(-900_i64..900, 1..60),
    ) {
        let schedule = case.schedule();
        let Some(first) = schedule.next_after(case.at) else { return Ok(()) };
        let timing = PlanInput::new(&schedule);
        let (mut at, mut fires) = (Some(first), vec![]);
        for (second, jitter) in (0..).zip(jitter) {
            let now = first + second * 1_000 + jitter;
            let Some(cursor) = at else { break };
            let plan = plan(&timing, cursor, now, now + 300, 100);
            fires.extend(plan.fires);
            at = plan.next_fire_at;
        }
        let last = at.map_or(Millis::MAX - 1, |at| at - 1);
        prop_assert_eq!(fires, instants(&schedule, first, last));
    }

    // covers: 003-17
    #[test]
    fn each_misfire_policy_lets_those_run_that_it_names(
        case in case(), policies in policies(), late in 0_i64..200_000,
    ) {
        let schedule = case.schedule();
        let Some(first) = schedule.next_after(case.at) else { return Ok(()) };
        let policies = Policies { fires_left: None, catch_up: CatchUp::All, ..policies };
        let now = first + late;
        let all = instants(&schedule, first, now + 5_000);
        let before = now - policies.threshold_ms;
        let (missed, others): (Vec<Millis>, Vec<Millis>) = all.iter().partition(|&&t| t < before);
        let runs = match policies.misfire {
            MisfirePolicy::Skip => vec![],
            MisfirePolicy::FireOnce if others.is_empty() => missed.last().copied().into_iter().collect(),
            MisfirePolicy::FireOnce => vec![],
            MisfirePolicy::FireAll => missed[missed.len().saturating_sub(policies.limit as usize)..].to_vec(),
            MisfirePolicy::FireWithin => {
                missed.iter().copied().filter(|&t| t >= now - policies.window_ms).collect()
            }
        };
        let plan = plan(&policies.timing(&schedule), first, now, now + 5_000, usize::MAX);
        prop_assert_eq!(plan.fires, [runs, others].concat());
    }

    // covers: 6.13
    #[test]
    fn preview_equals_plan(case in case(), count in 1_usize..60) {
        let schedule = case.schedule();
        let preview = schedule.following(case.at, count);
        let Some(&first) = preview.first() else { return Ok(()) };
        let plan = plan(&PlanInput::new(&schedule), first, case.at, Millis::MAX, count);
        prop_assert_eq!(plan.fires, preview);
    }

    #[test]
    fn a_limit_cuts_a_plan_and_changes_nothing(
        case in case(), policies in policies(), late in 0_i64..100_000, limit in 1_usize..40,
    ) {
        let schedule = case.schedule();
        let Some(first) = schedule.next_after(case.at) else { return Ok(()) };
        let (now, horizon) = (first + late, first + late + 5_000);
        let timing = policies.timing(&schedule);
        let whole = plan(&timing, first, now, horizon, usize::MAX);
        let cut = pieces(&timing, first, now, horizon, limit);
        // Of the late ones `latest` takes one; a cut among the others does not make it two.
        prop_assert_eq!(whole, cut);
    }

    #[test]
    fn cutting_a_window_in_two_plans_the_same(
        case in case(), policies in policies(), late in 0_i64..100_000, (to, further) in (0_i64..90_000, 0_i64..90_000),
    ) {
        let schedule = case.schedule();
        let Some(first) = schedule.next_after(case.at) else { return Ok(()) };
        // `fire_once` looks for a later instant in the same window, so it may depend on where that ends.
        let late = if policies.misfire == MisfirePolicy::FireOnce { 0 } else { late };
        let (now, middle) = (first + late, first + late + to);
        let mut timing = policies.timing(&schedule);
        let whole = plan(&timing, first, now, middle + further, usize::MAX);
        let mut cut = plan(&timing, first, now, middle, usize::MAX);
        if let Some(next) = cut.next_fire_at {
            timing.fires_left = timing.fires_left.map(|left| left - cut.fires.len() as u32);
            let rest = plan(&timing, next, now, middle + further, usize::MAX);
            cut.fires.extend(rest.fires);
            cut.skipped.extend(rest.skipped);
            cut.next_fire_at = rest.next_fire_at;
        }
        prop_assert_eq!(whole, cut);
    }
}
