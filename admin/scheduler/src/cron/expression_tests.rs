use super::expression::CronSchedule;
use crate::calendar::{ClockChanges, NextRule};
use crate::time::Millis;

fn cron(expression: &str, zone: &str) -> CronSchedule {
    CronSchedule::parse(expression, zone, ClockChanges::Carillon).unwrap_or_else(|error| panic!("{error}"))
}

fn millis(text: &str) -> Millis {
    chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis()
}

/// The following instants as their zone writes them.
fn next(schedule: &CronSchedule, from: &str, count: usize) -> Vec<String> {
    std::iter::successors(schedule.next_after(millis(from)), |&t| schedule.next_after(t))
        .take(count)
        .map(|t| chrono::DateTime::from_timestamp_millis(t).unwrap().with_timezone(&schedule.timezone()).to_rfc3339())
        .collect()
}

// covers: H17
#[test]
fn a_daily_time_that_the_clock_skips_fires_at_the_end_of_the_gap() {
    let schedule = cron("0 30 2 * * ?", "America/New_York");
    assert_eq!(
        next(&schedule, "2025-03-08T12:00:00-05:00", 3),
        ["2025-03-09T03:00:00-04:00", "2025-03-10T02:30:00-04:00", "2025-03-11T02:30:00-04:00"]
    );
    let several = cron("0 0/20 2,3 * * ?", "America/New_York");
    assert_eq!(
        next(&several, "2025-03-08T12:00:00-05:00", 3),
        ["2025-03-09T03:00:00-04:00", "2025-03-09T03:20:00-04:00", "2025-03-09T03:40:00-04:00"],
        "all that the gap swallows is one fire, which may be one of the list"
    );
    let whole_day = cron("0 0 12 30 12 ? 2011", "Pacific/Apia");
    assert_eq!(next(&whole_day, "2011-12-28T00:00:00-10:00", 2), ["2011-12-31T00:00:00+14:00"]);
}

// covers: 6.21
#[test]
fn a_daily_time_that_the_clock_shows_twice_fires_in_the_first_pass() {
    let schedule = cron("0 30 1 * * ?", "America/New_York");
    let both = ["2025-11-02T01:30:00-04:00", "2025-11-03T01:30:00-05:00"];
    assert_eq!(next(&schedule, "2025-11-01T12:00:00-04:00", 2), both);
    assert_eq!(next(&schedule, "2025-11-02T01:10:00-05:00", 1), both[1..], "from the second pass on");
    let hours = cron("0 0/30 0-2 * * ?", "America/New_York");
    assert_eq!(
        next(&hours, "2025-11-02T01:00:00-04:00", 2),
        ["2025-11-02T01:30:00-04:00", "2025-11-02T02:00:00-05:00"]
    );
}

// covers: 6.21
#[test]
fn a_schedule_of_every_hour_follows_elapsed_time() {
    let schedule = cron("0 0/30 * * * ?", "America/New_York");
    assert_eq!(
        next(&schedule, "2025-11-02T00:50:00-04:00", 5),
        [
            "2025-11-02T01:00:00-04:00",
            "2025-11-02T01:30:00-04:00",
            "2025-11-02T01:00:00-05:00",
            "2025-11-02T01:30:00-05:00",
            "2025-11-02T02:00:00-05:00",
        ]
    );
    assert_eq!(
        next(&schedule, "2025-03-09T01:20:00-05:00", 2),
        ["2025-03-09T01:30:00-05:00", "2025-03-09T03:00:00-04:00"]
    );
    let last_hour = cron("0 30 * 30 10 ? 2025", "Africa/Cairo");
    assert_eq!(
        next(&last_hour, "2025-10-30T23:00:00+03:00", 5),
        ["2025-10-30T23:30:00+03:00", "2025-10-30T23:30:00+02:00"],
        "a repeated hour at the very end of the schedule"
    );
}

// covers: 6.12, 6.13
#[test]
fn each_job_has_its_own_zone() {
    for (zone, fires) in [
        ("Asia/Shanghai", "2025-01-01T09:00:00+08:00"),
        ("Europe/Berlin", "2025-01-01T09:00:00+01:00"),
        ("America/New_York", "2025-01-01T09:00:00-05:00"),
    ] {
        assert_eq!(next(&cron("0 0 9 * * ?", zone), "2024-12-31T20:00:00Z", 1), [fires]);
    }
}

// covers: 6.16
#[test]
fn minutes_10_and_40_are_48_instants_a_day() {
    let schedule = cron("0 10,40 * * * ?", "UTC");
    let day = next(&schedule, "2025-01-01T00:00:00Z", 49);
    assert_eq!((day[0].as_str(), day[47].as_str()), ("2025-01-01T00:10:00+00:00", "2025-01-01T23:40:00+00:00"));
    assert_eq!(day[48], "2025-01-02T00:10:00+00:00");
    assert_eq!(day.iter().filter(|at| at.contains(":40:00")).count(), 24);
}

#[test]
fn a_star_beside_another_day_field_may_stand_for_the_question_mark() {
    for (written, meant) in
        [("*/5 * * * * *", "*/5 * * * * ?"), ("0 0 9 * * MON-FRI", "0 0 9 ? * MON-FRI"), ("0 0 9 L * *", "0 0 9 L * ?")]
    {
        assert_eq!(cron(written, "UTC").times, cron(meant, "UTC").times);
        let strict = CronSchedule::parse(written, "UTC", ClockChanges::Xxl).unwrap_err();
        assert!(strict.message.contains("exactly one of them must be `?`"), "{strict}");
    }
}

#[test]
fn an_unknown_zone_is_refused_with_an_example() {
    let error = CronSchedule::parse("0 0 12 * * ?", "Asia/Bejing", ClockChanges::Carillon).unwrap_err();
    assert_eq!(error.field, "schedule.timezone");
    assert_eq!(error.message, "`Asia/Bejing` is not a time zone; write an IANA name such as UTC or Asia/Shanghai");
}

#[test]
fn names_may_be_long_and_in_any_case() {
    assert_eq!(cron("0 0 9 ? january Monday", "UTC").times, cron("0 0 9 ? 1 2", "UTC").times);
}

#[test]
fn beyond_the_supported_years_there_is_no_next_instant() {
    let schedule = cron("* * * * * ?", "Asia/Tokyo");
    assert_eq!(schedule.next_after(Millis::MAX), None);
    assert_eq!(schedule.next_after(Millis::MIN), None);
}

#[test]
fn the_set_of_instants_does_not_depend_on_the_moment_of_the_call() {
    let (from, to) = (millis("2025-11-02T03:30:00Z"), millis("2025-11-02T08:30:00Z"));
    for &policy in ClockChanges::ALL {
        for expression in ["0 0/7 * * * ?", "0 0/20 0-2 * * ?", "0 30 1 * * ?", "0 5 0 * * ?"] {
            let schedule = CronSchedule::parse(expression, "America/New_York", policy).unwrap();
            let following = |t: &Millis| schedule.after(NextRule::NextInSet, None, *t);
            let all: Vec<Millis> = std::iter::successors(following(&from), following).take_while(|&t| t < to).collect();
            for t in (from..all.last().copied().unwrap_or(from)).step_by(13_000) {
                let next = all.iter().copied().find(|&instant| instant > t);
                assert_eq!(schedule.after(NextRule::NextInSet, None, t), next, "{expression} {policy} after {t}");
            }
        }
    }
}

#[test]
fn xxl_in_the_first_pass_leaves_out_times_that_the_clock_has_shown() {
    let schedule = CronSchedule::parse("0 30 1 * * ?", "America/New_York", ClockChanges::Xxl).unwrap();
    assert_eq!(next(&schedule, "2025-11-02T01:40:00-04:00", 1), ["2025-11-03T01:30:00-05:00"]);
    let second_pass = millis("2025-11-02T01:30:00-05:00");
    assert_eq!(schedule.after(NextRule::NextInSet, None, millis("2025-11-02T01:40:00-04:00")), Some(second_pass));
}

#[test]
fn xxl_a_time_that_is_always_in_a_gap_never_fires() {
    for (expression, zone) in [("0 0 2 ? 3 1#2", "America/New_York"), ("0 30 2 ? 3 1L", "Europe/Berlin")] {
        let read = |policy| CronSchedule::parse(expression, zone, policy).unwrap();
        let now = millis("2025-07-04T15:00:00Z");
        assert_eq!(read(ClockChanges::Xxl).next_after(now), None, "{expression}");
        assert!(read(ClockChanges::Carillon).next_after(now).is_some());
    }
}
