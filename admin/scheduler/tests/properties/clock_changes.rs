//! Schedules with a wall clock, against the oracles of `clocks`.

use carillon_scheduler::{
    ClockChanges, CronDraft, DailyDraft, KindDraft, Millis, PlanInput, Schedule, ScheduleContext, Weekday, plan,
};
use chrono::{Datelike, NaiveDateTime, TimeDelta, Timelike};
use proptest::prelude::*;
use proptest::sample::Index;

use super::clocks::{self, Change};

/// What a schedule means, simple enough for an oracle.
#[derive(Debug, Clone)]
enum Means {
    /// Sets of seconds, minutes and hours.
    Cron(Vec<u32>, Vec<u32>, Vec<u32>),
    /// Sets of minutes and hours.
    Unix(Vec<u32>, Vec<u32>),
    /// A period from a second of the day on, for a length, all in seconds; days by number from Monday.
    Daily(i64, i64, i64, Vec<u32>),
}

fn list(values: &[u32]) -> String {
    let words: Vec<String> = values.iter().map(u32::to_string).collect();
    words.join(",")
}

impl Means {
    fn includes(&self, at: NaiveDateTime) -> bool {
        match self {
            Self::Cron(s, m, h) => s.contains(&at.second()) && m.contains(&at.minute()) && h.contains(&at.hour()),
            Self::Unix(m, h) => at.second() == 0 && m.contains(&at.minute()) && h.contains(&at.hour()),
            Self::Daily(every, from, length, days) => [0, 1].iter().any(|&days_ago| {
                let begun = at.date() - TimeDelta::days(days_ago);
                let gone = i64::from(at.num_seconds_from_midnight()) + days_ago * 86_400 - from;
                days.contains(&begun.weekday().num_days_from_monday())
                    && (0..=*length).contains(&gone)
                    && gone % every == 0
            }),
        }
    }

    /// Whether each hour of a day has a time, if all weekdays were selected.
    fn every_hour(&self) -> bool {
        match self {
            Self::Cron(_, _, hours) | Self::Unix(_, hours) => hours.len() == 24,
            Self::Daily(every, from, length, _) => (0..24).all(|hour| {
                let times = (0..=*length).step_by(*every as usize);
                times.into_iter().any(|gone| (from + gone) / 3_600 % 24 == hour)
            }),
        }
    }

    fn schedule(&self, zone: carillon_scheduler::Zone, clock_changes: ClockChanges) -> Schedule {
        let timezone = zone.name().to_owned();
        let cron = |expression| CronDraft { expression, timezone: timezone.clone(), clock_changes };
        let time = |second: i64| {
            let second = second % 86_400;
            format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
        };
        let kind = match self {
            Self::Cron(s, m, h) => KindDraft::Cron(cron(format!("{} {} {} * * ?", list(s), list(m), list(h)))),
            Self::Unix(m, h) => KindDraft::UnixCron(cron(format!("{} {} * * *", list(m), list(h)))),
            Self::Daily(every_seconds, from, length, days) => KindDraft::Daily(DailyDraft {
                every_seconds: *every_seconds,
                from: time(*from),
                to: time(from + length),
                weekdays: days.iter().map(|&day| Weekday::ALL[day as usize]).collect(),
                timezone,
                clock_changes,
            }),
        };
        Schedule::parse(&kind.into(), &ScheduleContext::from_anchor(0)).expect("valid")
    }
}

fn set(max: u32, most: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::btree_set(0..=max, 1..most).prop_map(|set| set.into_iter().collect())
}

fn means() -> impl Strategy<Value = Means> {
    let hours = || prop_oneof![1 => Just((0..24).collect()), 3 => set(23, 20)];
    let every = prop_oneof![60..7_200_i64, Just(600), Just(3_600)];
    let length = prop_oneof![0..86_400_i64, Just(86_399)];
    prop_oneof![
        3 => (set(59, 2), set(59, 4), hours()).prop_map(|(s, m, h)| Means::Cron(s, m, h)),
        1 => (set(59, 4), hours()).prop_map(|(m, h)| Means::Unix(m, h)),
        3 => (every, 0..86_400_i64, length, set(6, 8))
            .prop_map(|(every, from, length, days)| Means::Daily(every, from, length, days)),
    ]
}

/// The hours around a change in which schedules behave specially.
fn around(change: Change) -> (i64, i64) {
    let by = i64::from(clocks::offset(change.zone, change.at) - clocks::offset(change.zone, change.at - 1));
    (change.at - by.abs().min(10_800) - 1_800, change.at + by.abs().min(10_800) + 1_800)
}

fn seconds(instants: impl IntoIterator<Item = Millis>) -> Vec<i64> {
    instants.into_iter().map(|at| at.div_euclid(1_000)).collect()
}

/// Computes one instant after the other, also from seconds in between; then a plan of the same hours under `xxl`.
fn check(means: &Means, change: Change) {
    let (from, to) = around(change);
    let includes = |at| means.includes(at);
    let schedule = means.schedule(change.zone, ClockChanges::Carillon);
    let expected = clocks::carillon(includes, means.every_hour(), change.zone, (from, to));
    let mut at = (from - 1) * 1_000;
    let following = std::iter::from_fn(|| {
        at = schedule.next_after(at).filter(|&next| next <= to * 1_000)?;
        Some(at)
    });
    assert_eq!(seconds(following), expected, "{means:?} at {change:?}");
    for second in (from..to).step_by(397) {
        let next = schedule.next_after(second * 1_000).map(|next| next / 1_000);
        if let Some(&expected) = expected.iter().find(|&&fire| fire > second) {
            assert_eq!(next, Some(expected), "{means:?} at {change:?} after {second}");
        }
    }
    let schedule = means.schedule(change.zone, ClockChanges::Xxl);
    // From before the repeated hour, so that no call is made inside it.
    let first = schedule.next_after((from - 1) * 1_000).expect("it fires");
    let plan = plan(&PlanInput::new(&schedule), first, first, to * 1_000, usize::MAX);
    let expected = clocks::xxl(includes, change.zone, (from, to));
    assert_eq!(seconds(plan.fires), expected, "{means:?} at {change:?} as xxl-job");
}

// covers: 6.21
#[test]
fn every_sort_of_change_within_ten_years() {
    let all = (0..24).collect::<Vec<u32>>();
    let every_day = (0..7).collect::<Vec<u32>>();
    let some = [
        Means::Cron(vec![0], vec![0, 10, 20, 30, 40, 50], all.clone()),
        Means::Cron(vec![5], vec![30], (0..6).collect()),
        Means::Cron(vec![0], vec![0, 30], (0..24).step_by(2).collect()),
        Means::Unix(vec![30], vec![0, 2, 23]),
        Means::Daily(600, 0, 86_399, every_day.clone()),
        Means::Daily(1_700, 79_200, 28_800, every_day),
        Means::Daily(90, 5_400, 7_200, vec![5, 6]),
    ];
    let sorts = clocks::sorts();
    assert!(sorts.len() > 20, "{sorts:?}");
    for change in sorts {
        for means in &some {
            check(means, change);
        }
    }
}

/// The search for changes compares offsets every six hours; it would miss one of two changes within that time.
#[test]
fn no_zone_changes_its_clock_twice_within_six_hours() {
    for &Change { zone, at } in clocks::all() {
        let offsets = (at - 21_600..=at + 21_600).step_by(900);
        let mut offsets: Vec<i32> = offsets.map(|second| clocks::offset(zone, second)).collect();
        offsets.dedup();
        assert_eq!(offsets.len(), 2, "{zone} near {at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    // covers: H17, 6.21
    #[test]
    fn the_oracles_agree_around_any_change(means in means(), change in any::<Index>()) {
        check(&means, *change.get(clocks::all()));
    }
}
