//! Random schedules of the whole dialect, all of them valid.

use carillon_scheduler::{
    CatchUp, ClockChanges, CronDraft, Facts, KindDraft, MisfirePolicy, Schedule, ScheduleDraft,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Any zone of the database.
pub fn zone() -> impl Strategy<Value = &'static str> {
    select(chrono_tz::TZ_VARIANTS.as_slice()).prop_map(|zone| zone.name())
}

/// A moment of the years 1971 to 2099, on any millisecond.
pub fn moment() -> impl Strategy<Value = i64> {
    31_536_000_000..4_102_444_800_000_i64
}

fn item(min: u32, max: u32) -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (min..=max).prop_map(|a| a.to_string()),
        2 => (min..=max, min..=max).prop_map(|(a, b)| format!("{a}-{b}")),
        1 => (min..=max, min..=max, 1..=max).prop_map(|(a, b, s)| format!("{a}-{b}/{s}")),
        1 => (min..=max, 1..=max).prop_map(|(a, s)| format!("{a}/{s}")),
        1 => (1..=max).prop_map(|s| format!("*/{s}")),
        1 => (1..=max).prop_map(|s| format!("/{s}")),
    ]
}

fn field(min: u32, max: u32) -> impl Strategy<Value = String> {
    prop_oneof![
        1 => Just("*".to_owned()),
        2 => prop::collection::vec(item(min, max), 1..4).prop_map(|items| items.join(",")),
    ]
}

/// Both day fields.
fn days() -> impl Strategy<Value = (String, String)> {
    let month_item = prop_oneof![
        2 => item(1, 31),
        1 => Just("L".to_owned()),
        1 => Just("LW".to_owned()),
        1 => (0_u32..=27).prop_map(|n| format!("L-{n}")),
        1 => (0_u32..=27).prop_map(|n| format!("L-{n}W")),
        1 => (1_u32..=28).prop_map(|n| format!("{n}W")),
    ];
    let month = prop::collection::vec(month_item, 1..4).prop_map(|items| items.join(","));
    let week = prop_oneof![
        3 => field(1, 7),
        1 => Just("MON-FRI".to_owned()),
        1 => Just("L".to_owned()),
        1 => (1_u32..=7).prop_map(|day| format!("{day}L")),
        1 => (1_u32..=7, 1_u32..=4).prop_map(|(day, nth)| format!("{day}#{nth}")),
    ];
    prop_oneof![
        Just(("*".to_owned(), "?".to_owned())),
        month.prop_map(|days| (days, "?".to_owned())),
        week.prop_map(|days| ("?".to_owned(), days)),
    ]
}

/// Six fields, without a year.
pub fn expression() -> impl Strategy<Value = String> {
    let month = prop_oneof![3 => Just("*".to_owned()), 1 => field(1, 12)];
    (field(0, 59), field(0, 59), field(0, 23), month, days())
        .prop_map(|(s, m, h, month, (day, weekday))| format!("{s} {m} {h} {day} {month} {weekday}"))
}

pub fn clock_changes() -> impl Strategy<Value = ClockChanges> {
    select(ClockChanges::ALL)
}

pub fn cron() -> impl Strategy<Value = Schedule> {
    (expression(), zone(), clock_changes()).prop_map(|(expression, zone, clock_changes)| {
        let draft = ScheduleDraft::from(KindDraft::Cron(CronDraft {
            expression,
            timezone: zone.to_owned(),
            clock_changes,
        }));
        Schedule::parse(&draft, &Facts::anchored(0))
            .unwrap_or_else(|error| panic!("{draft:?}: {error}"))
    })
}

pub fn schedule() -> impl Strategy<Value = Schedule> {
    let rate = (1_i64..=7_200, moment()).prop_map(|(seconds, anchor)| {
        Schedule::parse(
            &ScheduleDraft::fixed_rate(seconds),
            &Facts::anchored(anchor),
        )
        .expect("a period in range")
    });
    prop_oneof![3 => cron(), 1 => rate]
}

pub fn policies() -> impl Strategy<Value = (CatchUp, MisfirePolicy)> {
    (select(CatchUp::ALL), select(MisfirePolicy::ALL))
}
