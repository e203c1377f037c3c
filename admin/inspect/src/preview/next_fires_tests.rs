use std::sync::Arc;

use carillon_scheduler::{Calendar, DailyDraft, KindDraft, Millis, Schedule, ScheduleContext, ScheduleDraft, Zone};
use serde_json::json;

use crate::preview::excluded_days::{self, ExcludedDay};
use crate::preview::next_fires::{Span, preview};
use carillon_store::Calendars;

/// 2026-01-15T00:00:00Z, a Thursday.
const NOW: Millis = 1_768_435_200_000;
const DAY: Millis = 86_400_000;

fn span(count: usize) -> Span {
    Span { from: NOW, count, fires_left: None, now: NOW }
}

fn parsed(json: serde_json::Value) -> Schedule {
    let draft: ScheduleDraft = serde_json::from_value(json).unwrap();
    Schedule::parse(&draft, &ScheduleContext::from_anchor(NOW)).unwrap()
}

fn notes(json: serde_json::Value) -> Vec<String> {
    preview(&parsed(json), &Calendars::default(), None, span(3)).notes
}

fn new_york(expression: &str, policy: &str) -> Vec<String> {
    let json =
        json!({"kind": "cron", "expression": expression, "timezone": "America/New_York", "clock_changes": policy});
    notes(json)
}

#[test]
fn a_time_that_the_clocks_skip_or_repeat_is_noted() {
    assert_eq!(
        new_york("0 30 2 * * ?", "carillon"),
        ["02:30 does not exist on 2026-03-08: it fires at 03:00 instead."]
    );
    assert_eq!(new_york("0 30 2 * * ?", "xxl"), ["02:30 does not exist on 2026-03-08: nothing fires for it."]);
    assert_eq!(
        new_york("0 0/10 2 * * ?", "carillon"),
        ["02:00, 02:10, 02:20 and 3 more times do not exist on 2026-03-08: it fires once, at 03:00 instead."]
    );
    assert_eq!(new_york("0 0 1 * * ?", "carillon"), ["01:00 comes twice on 2026-11-01: it fires the first time only."]);
    assert_eq!(new_york("5 0 1 * * ?", "xxl"), ["01:00:05 comes twice on 2026-11-01: it fires the second time only."]);
}

#[test]
fn who_is_not_touched_is_not_bothered() {
    for expression in ["0 0 12 * * ?", "0 0/10 * * * ?", "* * * * * ?", "0 30 2 ? * MON"] {
        assert_eq!(new_york(expression, "carillon"), [""; 0], "{expression}");
    }
    // A pause of an hour under xxl is noted.
    assert_eq!(
        new_york("0 0/30 * * * ?", "xxl"),
        ["01:00, 01:30 come twice on 2026-11-01: it fires the second time only."]
    );
    assert_eq!(notes(json!({"kind": "cron", "expression": "0 30 2 * * ?"})), [""; 0]);
    assert_eq!(notes(json!({"kind": "fixed_rate", "seconds": 5})), [""; 0]);
    let over = json!({"kind": "cron", "expression": "0 30 2 * * ?", "timezone": "America/New_York", "end_at": "2026-03-01T00:00:00Z"});
    assert_eq!(notes(over), [""; 0]);
    let delay = notes(json!({"kind": "fixed_delay", "seconds": 5}));
    assert!(delay.len() == 1 && delay[0].contains("end of the run"), "{delay:?}");
}

fn closed(days: &[&str], policy: &str) -> (Schedule, Vec<ExcludedDay>) {
    let json = json!({
        "name": "bank", "weekdays": ["SAT", "SUN"], "days": days, "extra": ["2026-01-24"],
    });
    let calendar: Arc<Calendar> = Arc::new(serde_json::from_value(json).unwrap());
    let mut draft = ScheduleDraft::cron("0 0 0/6 * * ?", "Europe/Berlin");
    draft.calendars = vec!["bank".into()];
    draft.excluded = policy.parse().unwrap();
    draft.spread_seconds = 600;
    let facts =
        ScheduleContext { anchor_at: NOW, spread_offset_seconds: 90, calendars: std::slice::from_ref(&calendar) };
    let schedule = Schedule::parse(&draft, &facts).unwrap();
    let last = schedule.following(NOW, 30).last().copied();
    let found = excluded_days::excluded(&schedule, &[calendar], NOW, last);
    (schedule, found)
}

#[test]
fn days_that_calendars_exclude_are_listed_once_each() {
    let (schedule, found) = closed(&["2026-01-19"], "skip");
    let days: Vec<String> = found.iter().map(|day| day.day.to_string()).collect();
    assert_eq!(days, ["2026-01-17", "2026-01-18", "2026-01-19", "2026-01-25"]);
    assert!(found.iter().all(|day| day.moved_to.is_none() && day.calendars == ["bank"]));
    let (_, moved) = closed(&["2026-01-19"], "next_working_day");
    let to: Vec<String> = moved.iter().map(|day| day.moved_to.unwrap().to_string()).collect();
    assert_eq!(to[..3], ["2026-01-20", "2026-01-20", "2026-01-20"]);
    let looked = preview(&schedule, &Calendars::default(), None, span(3));
    let spread = looked.spread.unwrap();
    assert_eq!((spread.seconds, spread.offset_seconds), (600, 90));
    assert_eq!(looked.fires[0] % 3_600_000, 90_000, "the instants are schedule plus offset");
}

#[test]
fn fires_end_with_what_is_left_of_them() {
    let daily = parsed(json!({"kind": "fixed_rate", "seconds": 86_400}));
    let looked = |from, fires_left| {
        let span = Span { from, count: 5, fires_left, now: NOW };
        let looked = preview(&daily, &Calendars::default(), None, span);
        (looked.fires.len(), looked.ends)
    };
    assert_eq!(looked(NOW, None), (5, false));
    assert_eq!(looked(NOW, Some(3)), (3, true));
    assert_eq!(looked(NOW + 2 * DAY, Some(3)), (1, true));
    assert_eq!(looked(NOW + 9 * DAY, Some(3)), (0, true));
    assert_eq!(looked(NOW + 9 * DAY, Some(30)), (5, false));
}

#[test]
fn the_zone_is_that_of_the_schedule() {
    assert_eq!(ScheduleDraft::unix_cron("0 0 * * *", "Asia/Tokyo").zone(), "Asia/Tokyo".parse().unwrap());
    let daily = DailyDraft {
        every_seconds: 60,
        from: "08:00".into(),
        to: "09:00".into(),
        weekdays: vec![],
        timezone: "Europe/Berlin".into(),
        clock_changes: Default::default(),
    };
    assert_eq!(ScheduleDraft::from(KindDraft::Daily(daily)).zone(), "Europe/Berlin".parse().unwrap());
    assert_eq!(ScheduleDraft::cron("", "nowhere").zone(), Zone::UTC);
    assert_eq!(ScheduleDraft::once(NOW).zone(), Zone::UTC);
}
