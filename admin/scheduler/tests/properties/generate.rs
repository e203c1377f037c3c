//! Random schedules of every kind, all of them valid.

use carillon_scheduler::{ClockChanges, CronDraft, DailyDraft, KindDraft, Millis, Weekday, zone_data};
use proptest::prelude::*;
use proptest::sample::select;

/// Any zone of the database.
pub fn zone() -> impl Strategy<Value = &'static str> {
    select(zone_data().zones().collect::<Vec<_>>()).prop_map(|zone| zone.name())
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
pub fn days() -> impl Strategy<Value = (String, String)> {
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

/// Five fields, or a word.
pub fn unix_expression() -> impl Strategy<Value = String> {
    let day = || prop_oneof![3 => Just("*".to_owned()), 2 => field(1, 31)];
    let weekday = prop_oneof![3 => Just("*".to_owned()), 1 => Just("MON-FRI".to_owned()), 2 => field(0, 7)];
    let month = prop_oneof![3 => Just("*".to_owned()), 1 => field(1, 12)];
    let fields = (field(0, 59), field(0, 23), day(), month, weekday)
        .prop_map(|(m, h, day, month, weekday)| format!("{m} {h} {day} {month} {weekday}"));
    prop_oneof![9 => fields, 1 => select(vec!["@hourly", "@daily", "@weekly"]).prop_map(str::to_owned)]
}

fn cron_draft(expression: impl Strategy<Value = String>) -> impl Strategy<Value = CronDraft> {
    (expression, zone(), clock_changes()).prop_map(|(expression, zone, clock_changes)| CronDraft {
        expression,
        timezone: zone.to_owned(),
        clock_changes,
    })
}

fn time_of_day() -> impl Strategy<Value = String> {
    (0..24, 0..60, 0..60).prop_map(|(h, m, s)| match s {
        0..30 => format!("{h:02}:{m:02}"),
        s => format!("{h:02}:{m:02}:{s:02}"),
    })
}

pub fn daily() -> impl Strategy<Value = DailyDraft> {
    let every = prop_oneof![Just(1), 1..600_i64, 1..86_400_i64];
    let times = prop_oneof![
        4 => (time_of_day(), time_of_day()),
        1 => Just(("00:00".to_owned(), "23:59:59".to_owned())),
    ];
    let weekdays = prop::sample::subsequence(Weekday::ALL.to_vec(), 1..=7);
    (every, times, weekdays, zone(), clock_changes()).prop_map(
        |(every_seconds, (from, to), weekdays, zone, clock_changes)| DailyDraft {
            every_seconds,
            from,
            to,
            weekdays,
            timezone: zone.to_owned(),
            clock_changes,
        },
    )
}

/// Cron of both dialects and daily windows: the kinds with a wall clock.
pub fn on_a_clock() -> impl Strategy<Value = KindDraft> {
    prop_oneof![
        3 => cron_draft(expression()).prop_map(KindDraft::Cron).boxed(),
        2 => cron_draft(unix_expression()).prop_map(KindDraft::UnixCron).boxed(),
        2 => daily().prop_map(KindDraft::Daily).boxed(),
    ]
}

/// Every kind that has instants of its own; `once` is near `near`.
pub fn kind(near: Millis) -> impl Strategy<Value = KindDraft> {
    prop_oneof![
        6 => on_a_clock().boxed(),
        1 => (1_i64..=7_200).prop_map(|seconds| KindDraft::FixedRate { seconds }),
        1 => (-1_000..100_000_i64).prop_map(move |ms| KindDraft::Once { at: near + ms }),
    ]
}
