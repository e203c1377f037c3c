//! The crate croner, another implementation, where the dialects agree: plain fields, `L`, `LW`, `nW`, `nL`, `n#k`, and
//! the policy `carillon` for clock changes.

use carillon_scheduler::cron::Dialect;
use carillon_scheduler::{ClockChanges, CronSchedule, Zone};
use chrono::{DateTime, Utc};
use croner::parser::{CronParser, Seconds};
use proptest::prelude::*;
use proptest::sample::select;

const ZONES: &[&str] =
    &["UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin", "Australia/Sydney", "America/Sao_Paulo"];

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
    prop_oneof![month.prop_map(|day| (day, "?".to_owned())), week.prop_map(|day| ("?".to_owned(), day))]
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
    let near = (select(changes.to_vec()), 0_i64..14_400).prop_map(|(change, before)| change - before);
    prop_oneof![1_600_000_000_i64..1_900_000_000, near]
}

/// Both dialects of five fields: a day field is `*`, or it does not begin with it.
fn unix_days() -> impl Strategy<Value = (String, String)> {
    let given = |min, max| field(min, max).prop_filter("given", |text| !text.starts_with('*'));
    prop_oneof![
        (given(1, 31), given(0, 7)),
        field(1, 31).prop_map(|day| (day, "*".to_owned())),
        field(0, 7).prop_map(|weekday| ("*".to_owned(), weekday)),
    ]
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
        prop_assert!(agree(&ours, &theirs, from), "{} in {} after {}", expression, zone, from);
    }

    #[test]
    fn croner_agrees_on_unix_cron(
        (minute, hour) in (field(0, 59), field(0, 23)),
        (day, weekday) in unix_days(),
        zone in select(ZONES),
        from in moment(),
    ) {
        let expression = format!("{minute} {hour} {day} * {weekday}");
        let theirs = CronParser::builder().seconds(Seconds::Disallowed).build();
        let theirs = theirs.parse(&expression).expect("croner takes it");
        let single = |field: &String| field.bytes().all(|byte| byte.is_ascii_digit());
        let clocks_agree = hour == "*" || [&minute, &hour].into_iter().all(single);
        let zone = if clocks_agree { zone } else { "UTC" };
        let ours = CronSchedule::parse_dialect(Dialect::Unix, &expression, zone, ClockChanges::Carillon).expect("valid");
        prop_assert!(agree(&ours, &theirs, from), "{} in {} after {}", expression, zone, from);
    }
}

/// Whether the next five fires are the same.
fn agree(ours: &CronSchedule, theirs: &croner::Cron, from: i64) -> bool {
    let utc = DateTime::<Utc>::from_timestamp(from, 0).expect("in range");
    let mut at: DateTime<Zone> = utc.with_timezone(&ours.timezone());
    (0..5).all(|_| {
        let next = theirs.find_next_occurrence(&at, false).ok();
        let expected = next.as_ref().map(DateTime::timestamp_millis);
        let answer = ours.next_after(at.timestamp_millis());
        at = next.unwrap_or(at);
        answer == expected
    })
}
