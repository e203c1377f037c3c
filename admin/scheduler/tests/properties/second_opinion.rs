//! The crate croner, another implementation, where the dialects agree: plain fields, `L`, `LW`, `nW`, `nL`, `n#k`, and
//! the policy `carillon` for clock changes.

use carillon_scheduler::{ClockChanges, CronSchedule};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use croner::parser::{CronParser, Seconds};
use proptest::prelude::*;
use proptest::sample::select;

const ZONES: &[&str] = &[
    "UTC",
    "Asia/Shanghai",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Sydney",
    "America/Sao_Paulo",
];

/// `*`, a list of numbers, a range upwards, a step.
fn field(min: u32, max: u32) -> impl Strategy<Value = String> {
    prop_oneof![
        Just("*".to_owned()),
        (min..=max).prop_map(|value| value.to_string()),
        prop::collection::btree_set(min..=max, 1..4).prop_map(|set| set
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",")),
        (min..=max, min..=max).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        (1..=max).prop_map(|step| format!("*/{step}")),
    ]
}

fn days() -> impl Strategy<Value = (String, String)> {
    let month = prop_oneof![
        3 => field(1, 31),
        1 => Just("L".to_owned()),
        1 => Just("LW".to_owned()),
        1 => (1_u32..=28).prop_map(|day| format!("{day}W")),
    ];
    let week = prop_oneof![
        3 => field(1, 7),
        1 => (1_u32..=7).prop_map(|day| format!("{day}L")),
        1 => (1_u32..=7, 1_u32..=4).prop_map(|(day, nth)| format!("{day}#{nth}")),
    ];
    prop_oneof![
        month.prop_map(|day| (day, "?".to_owned())),
        week.prop_map(|day| ("?".to_owned(), day))
    ]
}

/// Seconds of 2020 to 2030, half of them in the hours before a change of clocks in New York, Berlin or Sydney.
fn moment() -> impl Strategy<Value = i64> {
    let changes = [
        1_741_501_800, // 2025-03-09T06:30:00Z
        1_762_061_400, // 2025-11-02T05:30:00Z
        1_743_294_600, // 2025-03-30T00:30:00Z
        1_761_438_600, // 2025-10-26T00:30:00Z
        1_759_592_600, // 2025-10-04T15:43:20Z
        1_743_868_800, // 2025-04-05T16:00:00Z
    ];
    let near =
        (select(changes.to_vec()), 0_i64..14_400).prop_map(|(change, before)| change - before);
    prop_oneof![1_600_000_000_i64..1_900_000_000, near]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn croner_agrees(
        (second, minute, hour) in (field(0, 59), field(0, 59), field(0, 23)),
        (day, weekday) in days(),
        zone in select(ZONES),
        from in moment(),
    ) {
        let expression = format!("{second} {minute} {hour} {day} * {weekday}");
        let parser = CronParser::builder().seconds(Seconds::Required).alternative_weekdays(true).dom_and_dow(true).build();
        let theirs = parser.parse(&expression).expect("croner takes it");
        // When the clocks change, croner calls a time fixed if each of its fields has a single value; to us the hour decides.
        let single = |field: &String| field.bytes().all(|byte| byte.is_ascii_digit());
        let clocks_agree = hour == "*" || [&second, &minute, &hour].into_iter().all(single);
        let zone = if clocks_agree { zone } else { "UTC" };
        let ours = CronSchedule::parse(&expression, zone, ClockChanges::Carillon).expect("valid");
        let zone: Tz = zone.parse().expect("a zone");
        let mut at: DateTime<Tz> = DateTime::<Utc>::from_timestamp(from, 0).expect("in range").with_timezone(&zone);
        for _ in 0..5 {
            let next = theirs.find_next_occurrence(&at, false).ok();
            let expected = next.as_ref().map(DateTime::timestamp_millis);
            prop_assert_eq!(ours.next_after(at.timestamp_millis()), expected, "{} in {} after {}", expression, zone, at);
            let Some(next) = next else { break };
            at = next;
        }
    }
}
