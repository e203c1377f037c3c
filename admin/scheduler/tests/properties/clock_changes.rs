//! The policy `carillon` against an oracle that walks real time second by second.

use carillon_scheduler::{ClockChanges, CronSchedule, Millis};
use chrono::{DateTime, NaiveDateTime, TimeDelta, Timelike};
use chrono_tz::Tz;
use proptest::prelude::*;
use proptest::sample::select;

/// A change of the clock (an hour of real time in which it lies), and its zone.
const CHANGES: &[(&str, &str)] = &[
    ("America/New_York", "2025-03-09T06:30:00Z"),
    ("America/New_York", "2025-11-02T05:30:00Z"),
    ("Europe/London", "2025-03-30T00:30:00Z"),
    ("Europe/London", "2025-10-26T00:30:00Z"),
    ("Australia/Lord_Howe", "2025-10-04T15:00:00Z"),
    ("Australia/Lord_Howe", "2025-04-05T14:30:00Z"),
    ("Africa/Cairo", "2025-04-24T21:30:00Z"),
    ("Africa/Cairo", "2025-10-30T20:30:00Z"),
    ("America/Havana", "2025-11-02T04:30:00Z"),
    ("Pacific/Apia", "2011-12-30T09:30:00Z"),
    ("Asia/Kathmandu", "1985-12-31T18:00:00Z"),
];

fn shown(zone: Tz, second: i64) -> NaiveDateTime {
    DateTime::from_timestamp(second, 0)
        .expect("in range")
        .with_timezone(&zone)
        .naive_local()
}

/// Sets of seconds, minutes and hours.
#[derive(Debug, Clone)]
struct Times(Vec<u32>, Vec<u32>, Vec<u32>);

impl Times {
    fn includes(&self, at: NaiveDateTime) -> bool {
        self.0.contains(&at.second())
            && self.1.contains(&at.minute())
            && self.2.contains(&at.hour())
    }

    fn expression(&self) -> String {
        let list = |values: &[u32]| {
            values
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
                .join(",")
        };
        format!(
            "{} {} {} * * ?",
            list(&self.0),
            list(&self.1),
            list(&self.2)
        )
    }
}

/// Every second from `from` to `to` at which a job with these times fires.
fn oracle(times: &Times, zone: Tz, from: i64, to: i64) -> Vec<i64> {
    let every_hour = times.2.len() == 24;
    // What the clock has shown or gone past before.
    let mut seen = (from - 90_000..from)
        .map(|second| shown(zone, second))
        .max()
        .expect("a day and more");
    let mut fires = vec![];
    for second in from..=to {
        let now = shown(zone, second);
        if every_hour {
            fires.extend(times.includes(now).then_some(second));
            continue;
        }
        let mut any = false;
        while seen < now {
            seen += TimeDelta::seconds(1);
            any |= times.includes(seen);
        }
        fires.extend(any.then_some(second));
    }
    fires
}

fn times() -> impl Strategy<Value = Times> {
    let set = |max: u32, most: usize| prop::collection::btree_set(0..=max, 1..most);
    let hours = prop_oneof![1 => Just((0..24).collect()), 3 => set(23, 20)];
    (set(59, 2), set(59, 4), hours).prop_map(|(s, m, h)| {
        Times(
            s.into_iter().collect(),
            m.into_iter().collect(),
            h.into_iter().collect(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m6_21_the_oracle_agrees_around_every_change(times in times(), (zone, near) in select(CHANGES)) {
        let near = DateTime::parse_from_rfc3339(near).expect("a time").timestamp();
        let (from, to) = (near - 7_200, near + 14_400);
        let schedule = CronSchedule::parse(&times.expression(), zone, ClockChanges::Carillon).expect("valid");
        let expected = oracle(&times, schedule.timezone(), from, to);
        let mut at: Millis = (from - 1) * 1_000;
        let mut fires = vec![];
        while let Some(next) = schedule.next_after(at).filter(|&next| next <= to * 1_000) {
            fires.push(next / 1_000);
            at = next;
        }
        prop_assert_eq!(&fires, &expected, "{} in {}", times.expression(), zone);
        // From any second the answer is the next of these.
        for second in (from..to).step_by(397) {
            let next = schedule.next_after(second * 1_000).map(|next| next / 1_000);
            if let Some(&expected) = expected.iter().find(|&&fire| fire > second) {
                prop_assert_eq!(next, Some(expected), "after {} in {}", second, zone);
            }
        }
    }
}
