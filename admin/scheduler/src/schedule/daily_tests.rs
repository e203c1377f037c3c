use super::daily::Daily;
use super::draft::{DailyDraft, KindDraft};
use super::instants::{Schedule, ScheduleContext};
use crate::calendar::{WallTimes, Weekday};
use crate::time::format_rfc3339;

fn draft(every_seconds: i64, from: &str, to: &str) -> DailyDraft {
    DailyDraft {
        every_seconds,
        from: from.into(),
        to: to.into(),
        weekdays: Weekday::ALL.to_vec(),
        timezone: "UTC".into(),
        clock_changes: Default::default(),
    }
}

fn next(draft: &DailyDraft, from: &str, count: usize) -> Vec<String> {
    let draft = KindDraft::Daily(draft.clone()).into();
    let schedule = Schedule::parse(&draft, &ScheduleContext::from_anchor(0)).unwrap();
    let from = chrono::DateTime::parse_from_rfc3339(from).unwrap();
    let instants = schedule.following(from.timestamp_millis(), count);
    instants.into_iter().map(format_rfc3339).collect()
}

#[test]
fn both_ends_belong_to_the_window() {
    let every_20_minutes = draft(1_200, "09:00", "09:40");
    assert_eq!(
        next(&every_20_minutes, "2025-07-04T08:59:59Z", 4),
        ["2025-07-04T09:00:00Z", "2025-07-04T09:20:00Z", "2025-07-04T09:40:00Z", "2025-07-05T09:00:00Z",]
    );
    let not_quite = draft(1_200, "09:00", "09:39:59");
    assert_eq!(next(&not_quite, "2025-07-04T09:20:00Z", 1), ["2025-07-05T09:00:00Z"]);
    let one = draft(60, "09:00", "09:00");
    assert_eq!(next(&one, "2025-07-04T09:00:00Z", 1), ["2025-07-05T09:00:00Z"]);
}

#[test]
fn a_window_over_midnight_belongs_to_the_day_on_which_it_begins() {
    let mut night = draft(3_600, "22:30", "00:30:00");
    night.weekdays = vec![Weekday::Fri];
    assert_eq!(
        next(&night, "2025-07-04T12:00:00Z", 4), // a Friday
        ["2025-07-04T22:30:00Z", "2025-07-04T23:30:00Z", "2025-07-05T00:30:00Z", "2025-07-11T22:30:00Z",]
    );
}

#[test]
fn every_hour_depends_on_the_times_and_not_on_the_ends() {
    let every_hour = |every, from, to| {
        let window = Daily::parse(&draft(every, from, to)).unwrap().window;
        window.has_every_hour()
    };
    assert!(every_hour(600, "00:00", "23:59:59"));
    assert!(every_hour(3_600, "08:30", "07:30"), "round the clock");
    assert!(!every_hour(7_200, "00:00", "23:59:59"));
    assert!(!every_hour(60, "08:00", "06:59"));
    assert!(!every_hour(3_800, "00:00", "23:59:59"), "leaves out some hours");
}

#[test]
fn a_frequent_window_follows_elapsed_time_when_the_clock_is_moved_back() {
    let mut all_day = draft(1_800, "00:00", "23:59:59");
    all_day.timezone = "America/New_York".into();
    assert_eq!(
        next(&all_day, "2025-11-02T05:00:00Z", 4),
        ["2025-11-02T05:30:00Z", "2025-11-02T06:00:00Z", "2025-11-02T06:30:00Z", "2025-11-02T07:00:00Z",]
    );
    let mut night = draft(1_800, "01:00", "02:00");
    night.timezone = "America/New_York".into();
    assert_eq!(
        next(&night, "2025-11-02T05:00:00Z", 2),
        ["2025-11-02T05:30:00Z", "2025-11-02T07:00:00Z"],
        "fixed hours: the first pass alone"
    );
}

#[test]
fn it_is_kept_tidy() {
    let mut draft = draft(60, " 8:05", "17:00:07");
    draft.weekdays = vec![Weekday::Fri, Weekday::Mon, Weekday::Fri];
    draft.timezone = " Europe/Berlin ".into();
    let tidy = Daily::parse(&draft).unwrap().normalise(&draft);
    assert_eq!((tidy.from.as_str(), tidy.to.as_str()), ("08:05:00", "17:00:07"));
    assert_eq!(tidy.weekdays, [Weekday::Mon, Weekday::Fri]);
    assert_eq!(tidy.timezone, "Europe/Berlin");
}

#[test]
fn each_wrong_member_has_its_message() {
    let wrong = |change: fn(&mut DailyDraft)| {
        let mut draft = draft(60, "08:00", "17:00");
        change(&mut draft);
        Daily::parse(&draft).unwrap_err().to_string()
    };
    for (change, message) in [
        (
            (|draft| draft.every_seconds = 0) as fn(&mut DailyDraft),
            "schedule.every_seconds: 0 is not allowed; a daily window has a fire every 1 to 86400 seconds",
        ),
        (
            |draft| draft.from = "25:00".into(),
            "schedule.from: `25:00` is not a time of day; write HH:MM or HH:MM:SS, 00:00 to 23:59:59",
        ),
        (
            |draft| draft.to = "23:59:60".into(),
            "schedule.to: `23:59:60` is not a time of day; write HH:MM or HH:MM:SS, 00:00 to 23:59:59",
        ),
        (
            |draft| draft.weekdays.clear(),
            "schedule.weekdays: must not be empty; name at least one of MON, TUE, WED, THU, FRI, SAT, SUN",
        ),
        (
            |draft| draft.timezone = "Mars".into(),
            "schedule.timezone: `Mars` is not a time zone; write an IANA name such as UTC or Asia/Shanghai",
        ),
    ] {
        assert_eq!(wrong(change), message);
    }
}
