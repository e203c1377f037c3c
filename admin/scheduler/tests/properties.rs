//! What holds for every schedule, zone and moment.

mod generate;

use carillon_scheduler::{
    ClockChanges, CronSchedule, Facts, KindDraft, Millis, Plan, Schedule, ScheduleDraft, Timing,
    fair_share, plan,
};
use proptest::prelude::*;

/// The instants from `first` on, one by one, up to and including `last`.
fn instants(schedule: &Schedule, first: Millis, last: Millis) -> Vec<Millis> {
    std::iter::successors(Some(first), |&t| schedule.next_after(t))
        .take_while(|&t| t <= last)
        .collect()
}

/// All instants that the plans record, as a count for each.
fn recorded(plans: &[Plan], instants: &[Millis]) -> Vec<usize> {
    let times = |&instant: &Millis| {
        let fires = plans
            .iter()
            .flat_map(|plan| &plan.fires)
            .filter(|&&fire| fire == instant)
            .count();
        let ranges = plans.iter().flat_map(|plan| &plan.skipped);
        fires
            + ranges
                .filter(|range| (range.from_at..=range.to_at).contains(&instant))
                .count()
    };
    instants.iter().map(times).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn next_is_later_and_on_a_whole_second(schedule in generate::schedule(), t in generate::moment()) {
        let mut at = t;
        for _ in 0..50 {
            let Some(next) = schedule.next_after(at) else { break };
            prop_assert!(next > at, "{schedule:?}: {next} after {at}");
            prop_assert_eq!(next % 1_000, 0);
            at = next;
        }
    }

    #[test]
    fn nothing_lies_between_a_moment_and_its_next(
        schedule in generate::cron(), t in generate::moment(), part in 0.0..1.0_f64,
    ) {
        // Not from inside a repeated hour under the policy `xxl`: there its answer depends on who asks.
        let Some(first) = schedule.next_after(t) else { return Ok(()) };
        let Some(second) = schedule.next_after(first) else { return Ok(()) };
        let between = first + ((second - first) as f64 * part) as i64;
        let repeated = matches!(schedule.draft().kind, KindDraft::Cron(cron) if cron.clock_changes == ClockChanges::Xxl);
        if !repeated {
            prop_assert_eq!(schedule.next_after(between.min(second - 1)), Some(second));
        }
    }

    /// What somebody wrote into the database behind our back is an error with a message, and costs no time.
    #[test]
    fn m003_20_and_m003_21_any_text_is_read_or_refused(
        text in prop_oneof![
            ".{0,40}",
            "([0-9*?LW#,/A-Z-]{1,6} ){5,6}[0-9*?LW#,/-]{1,5}",
            "([0-5*/,-]{1,3} ){3}([1-9LW,-]{1,4} [1-9*]{1,2} \\?|\\? [1-9*]{1,2} [1-7L#]{1,3})",
        ],
        zone in prop_oneof![generate::zone().prop_map(str::to_owned), ".{0,20}"],
        clock_changes in generate::clock_changes(),
        t in generate::moment(),
    ) {
        // The fastest of some, for the machine may be busy with something else.
        let mut fastest = std::time::Duration::MAX;
        for _ in 0..3 {
            let started = std::time::Instant::now();
            match CronSchedule::parse(&text, &zone, clock_changes) {
                Ok(schedule) => prop_assert!(schedule.next_after(t).is_none_or(|next| next > t)),
                Err(error) => prop_assert!(error.field.starts_with("schedule.") && !error.message.is_empty()),
            }
            fastest = fastest.min(started.elapsed());
        }
        prop_assert!(fastest.as_millis() < 20, "{} in {}: {:?}", text, zone, fastest);
    }

    #[test]
    fn what_is_stored_is_read_back(schedule in generate::schedule(), t in generate::moment()) {
        let stored = serde_json::to_string(&schedule.draft()).expect("a draft is written");
        let draft: ScheduleDraft = serde_json::from_str(&stored).expect("and read");
        let again = Schedule::parse(&draft, &Facts::anchored(schedule.anchor_at())).expect("it was valid");
        prop_assert_eq!(again.following(t, 3), schedule.following(t, 3));
        prop_assert_eq!(again, schedule);
    }

    #[test]
    fn plans_record_each_instant_once(
        schedule in generate::schedule(),
        (catch_up, misfire) in generate::policies(),
        start in generate::moment(),
        pauses in prop::collection::vec((0_i64..90_000, 0_i64..6_000, 1_usize..80), 1..12),
    ) {
        let Some(first) = schedule.next_after(start) else { return Ok(()) };
        let timing = Timing { schedule: &schedule, catch_up, misfire, misfire_threshold_ms: 20_000, ..Timing::of(&schedule) };
        let (mut now, mut at, mut plans) = (first - 1_000, Some(first), vec![]);
        for (pause, ahead, limit) in pauses {
            now += pause;
            let Some(cursor) = at else { break };
            let plan = plan(&timing, cursor, now, now + ahead, limit);
            prop_assert!(plan.fires.is_sorted() && plan.fires.len() <= limit);
            prop_assert!(plan.next_fire_at.is_none_or(|next| next >= cursor));
            at = plan.next_fire_at;
            plans.push(plan);
        }
        let last = at.map_or(now + 6_000, |at| at - 1);
        let instants = instants(&schedule, first, last);
        prop_assert!(recorded(&plans, &instants).iter().all(|&times| times == 1));
        let fires = plans.iter().map(|plan| plan.fires.len()).sum::<usize>();
        let skipped = plans.iter().flat_map(|plan| &plan.skipped).map(|range| range.count as usize).sum::<usize>();
        prop_assert_eq!(fires + skipped, instants.len());
    }

    #[test]
    fn cutting_a_plan_in_two_changes_nothing(
        schedule in generate::schedule(),
        (catch_up, misfire) in generate::policies(),
        start in generate::moment(),
        (late, limit) in (0_i64..100_000, 1_usize..40),
    ) {
        let Some(first) = schedule.next_after(start) else { return Ok(()) };
        let timing = Timing { schedule: &schedule, catch_up, misfire, misfire_threshold_ms: 30_000, ..Timing::of(&schedule) };
        let (now, horizon) = (first + late, first + late + 5_000);
        let whole = plan(&timing, first, now, horizon, usize::MAX);
        let mut cut = plan(&timing, first, now, horizon, limit);
        while cut.next_fire_at.is_some_and(|next| next <= horizon) {
            let rest = plan(&timing, cut.next_fire_at.expect("it goes on"), now, horizon, limit);
            cut.fires.extend(rest.fires);
            cut.skipped.extend(rest.skipped);
            cut.next_fire_at = rest.next_fire_at;
        }
        // Of the late ones `latest` takes one; a cut among the others does not make it two.
        prop_assert_eq!(whole, cut);
    }

    #[test]
    fn m001_42_shares_differ_by_at_most_one_and_few_shards_move(
        count in 0_i32..300, nodes in prop::collection::btree_set("[a-z0-9]{4,12}", 2..12),
    ) {
        let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let shares = fair_share(count, &names);
        let sizes: Vec<usize> = shares.values().map(Vec::len).collect();
        prop_assert!(sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0) <= 1);
        let mut all: Vec<i32> = shares.values().flatten().copied().collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..count).collect::<Vec<_>>());

        let fewer = fair_share(count, &names[1..]);
        let gone = shares[names[0]].len();
        let moved = fewer.iter().map(|(name, share)| share.iter().filter(|s| !shares[name].contains(s)).count());
        let moved = moved.sum::<usize>();
        prop_assert!(moved <= 2 * gone + names.len(), "{moved} of {count} moved for {gone}, {} nodes", names.len());
    }
}
