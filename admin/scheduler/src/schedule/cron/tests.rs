use super::*;

fn cron(expression: &str, zone: &str) -> CronSchedule {
    CronSchedule::parse(expression, zone, ClockChanges::Carillon)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn millis(text: &str) -> Millis {
    chrono::DateTime::parse_from_rfc3339(text)
        .unwrap()
        .timestamp_millis()
}

/// The following instants as their zone writes them.
fn next(schedule: &CronSchedule, from: &str, count: usize) -> Vec<String> {
    std::iter::successors(schedule.next_after(millis(from)), |&t| {
        schedule.next_after(t)
    })
    .take(count)
    .map(|t| {
        chrono::DateTime::from_timestamp_millis(t)
            .unwrap()
            .with_timezone(&schedule.timezone())
            .to_rfc3339()
    })
    .collect()
}

fn problem(expression: &str) -> String {
    CronSchedule::parse(expression, "UTC", ClockChanges::Carillon)
        .unwrap_err()
        .message
}

#[test]
fn a_daily_time_that_the_clock_skips_fires_at_the_end_of_the_gap() {
    let schedule = cron("0 30 2 * * ?", "America/New_York");
    assert_eq!(
        next(&schedule, "2025-03-08T12:00:00-05:00", 3),
        [
            "2025-03-09T03:00:00-04:00",
            "2025-03-10T02:30:00-04:00",
            "2025-03-11T02:30:00-04:00"
        ]
    );
    let several = cron("0 0/20 2,3 * * ?", "America/New_York");
    assert_eq!(
        next(&several, "2025-03-08T12:00:00-05:00", 3),
        [
            "2025-03-09T03:00:00-04:00",
            "2025-03-09T03:20:00-04:00",
            "2025-03-09T03:40:00-04:00"
        ],
        "all that the gap swallows is one fire, which may be one of the list"
    );
    let whole_day = cron("0 0 12 30 12 ? 2011", "Pacific/Apia");
    assert_eq!(
        next(&whole_day, "2011-12-28T00:00:00-10:00", 2),
        ["2011-12-31T00:00:00+14:00"]
    );
}

#[test]
fn m6_21_a_daily_time_that_the_clock_shows_twice_fires_in_the_first_pass() {
    let schedule = cron("0 30 1 * * ?", "America/New_York");
    let both = ["2025-11-02T01:30:00-04:00", "2025-11-03T01:30:00-05:00"];
    assert_eq!(next(&schedule, "2025-11-01T12:00:00-04:00", 2), both);
    assert_eq!(
        next(&schedule, "2025-11-02T01:10:00-05:00", 1),
        both[1..],
        "asked in the second pass"
    );
    let hours = cron("0 0/30 0-2 * * ?", "America/New_York");
    assert_eq!(
        next(&hours, "2025-11-02T01:00:00-04:00", 2),
        ["2025-11-02T01:30:00-04:00", "2025-11-02T02:00:00-05:00"]
    );
}

#[test]
fn m6_21_every_hour_goes_on_in_real_time() {
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

#[test]
fn m6_12_each_job_has_its_own_zone() {
    for (zone, fires) in [
        ("Asia/Shanghai", "2025-01-01T09:00:00+08:00"),
        ("Europe/Berlin", "2025-01-01T09:00:00+01:00"),
        ("America/New_York", "2025-01-01T09:00:00-05:00"),
    ] {
        assert_eq!(
            next(&cron("0 0 9 * * ?", zone), "2024-12-31T20:00:00Z", 1),
            [fires]
        );
    }
}

#[test]
fn m6_16_minutes_10_and_40_are_48_instants_a_day() {
    let schedule = cron("0 10,40 * * * ?", "UTC");
    let day = next(&schedule, "2025-01-01T00:00:00Z", 49);
    assert_eq!(
        (day[0].as_str(), day[47].as_str()),
        ("2025-01-01T00:10:00+00:00", "2025-01-01T23:40:00+00:00")
    );
    assert_eq!(day[48], "2025-01-02T00:10:00+00:00");
    assert_eq!(day.iter().filter(|at| at.contains(":40:00")).count(), 24);
}

#[test]
fn a_star_beside_another_day_field_may_stand_for_the_question_mark() {
    for (written, meant) in [
        ("*/5 * * * * *", "*/5 * * * * ?"),
        ("0 0 9 * * MON-FRI", "0 0 9 ? * MON-FRI"),
        ("0 0 9 L * *", "0 0 9 L * ?"),
    ] {
        assert_eq!(cron(written, "UTC").wall, cron(meant, "UTC").wall);
        let strict = CronSchedule::parse(written, "UTC", ClockChanges::Xxl).unwrap_err();
        assert!(
            strict.message.contains("exactly one of them must be `?`"),
            "{strict}"
        );
    }
}

#[test]
fn messages_name_the_field_and_say_what_is_right() {
    for (expression, message) in [
        (
            "0 0 25 * * ?",
            "hour field: 25 is not allowed; hours are 0 to 23 (field 3 of 6: `25`)",
        ),
        (
            "0 0 0 ? * 0 2025",
            "day-of-week field: 0 is not allowed; days of the week are 1 to 7 (1 is Sunday) or SUN to SAT \
             (field 6 of 7: `0`)",
        ),
        (
            "0 0 0 1 JA ?",
            "month field: `JA` is not allowed; months are 1 to 12 or JAN to DEC (field 5 of 6: `JA`)",
        ),
        (
            "0 */75 * * * ?",
            "minute field: `75` is not a step; steps of minutes are 1 to 59 (field 2 of 6: `*/75`)",
        ),
        (
            "0/0 * * * * ?",
            "second field: `0` is not a step; steps of seconds are 1 to 59 (field 1 of 6: `0/0`)",
        ),
        (
            "5,,7 * * * * ?",
            "second field: a value is missing; seconds are 0 to 59 (field 1 of 6: `5,,7`)",
        ),
        (
            "0 0 0 ? * MON-FRI/2",
            "day-of-week field: a step does not go with names; write `2-6/2` (field 6 of 6: `MON-FRI/2`)",
        ),
        (
            "0 0 0 ? * SUN-3",
            "day-of-week field: a range has two numbers or two names (field 6 of 6: `SUN-3`)",
        ),
        (
            "0 0 0 ? * 6#9",
            "day-of-week field: `6#9` is not allowed; write 6#3 or FRI#3 alone, for the third Friday (1 to 5) \
             (field 6 of 6: `6#9`)",
        ),
        (
            "0 0 0 0W * ?",
            "day-of-month field: `0W` is not allowed; write 1W to 31W, LW or L-3W (field 4 of 6: `0W`)",
        ),
        (
            "0 0 0 L-31 * ?",
            "day-of-month field: `L-31` is not allowed; write L, L-1 to L-30 or LW (field 4 of 6: `L-31`)",
        ),
        (
            "0 0 0 1 1 ? 2030-2028",
            "year field: `2030-2028` ends before it begins; write the earlier year first (field 7 of 7: `2030-2028`)",
        ),
        (
            "0 0 9 15 * MON",
            "day-of-month and day-of-week fields (4 and 6): exactly one of them must be `?`, such as \
             `0 0 9 ? * MON` or `0 0 9 1 * ?`",
        ),
        (
            "*/5 * * * *",
            "has 5 fields; it needs six or seven: second minute hour day-of-month month day-of-week [year]; \
             a Unix cron is kind unix_cron",
        ),
        ("@daily", "`@daily` is not known; write `0 0 0 * * ?`"),
    ] {
        assert_eq!(problem(expression), message);
    }
}

#[test]
fn an_unknown_zone_is_told_what_a_zone_is() {
    let error =
        CronSchedule::parse("0 0 12 * * ?", "Asia/Bejing", ClockChanges::Carillon).unwrap_err();
    assert_eq!(error.field, "schedule.timezone");
    assert_eq!(
        error.message,
        "`Asia/Bejing` is not a time zone; write an IANA name such as UTC or Asia/Shanghai"
    );
}

#[test]
fn names_may_be_long_and_in_any_case() {
    assert_eq!(
        cron("0 0 9 ? january Monday", "UTC").wall,
        cron("0 0 9 ? 1 2", "UTC").wall
    );
}

#[test]
fn what_lies_outside_the_calendar_has_no_next() {
    let schedule = cron("* * * * * ?", "Asia/Tokyo");
    assert_eq!(schedule.next_after(Millis::MAX), None);
    assert_eq!(schedule.next_after(Millis::MIN), None);
}

#[test]
fn the_set_of_instants_does_not_depend_on_who_asks() {
    let (from, to) = (
        millis("2025-11-02T03:30:00Z"),
        millis("2025-11-02T08:30:00Z"),
    );
    for &policy in ClockChanges::ALL {
        for expression in [
            "0 0/7 * * * ?",
            "0 0/20 0-2 * * ?",
            "0 30 1 * * ?",
            "0 5 0 * * ?",
        ] {
            let schedule = CronSchedule::parse(expression, "America/New_York", policy).unwrap();
            let following = |t: &Millis| schedule.after(Ask::Instant, None, *t);
            let all: Vec<Millis> = std::iter::successors(following(&from), following)
                .take_while(|&t| t < to)
                .collect();
            for t in (from..all.last().copied().unwrap_or(from)).step_by(13_000) {
                let next = all.iter().copied().find(|&instant| instant > t);
                assert_eq!(
                    schedule.after(Ask::Instant, None, t),
                    next,
                    "{expression} {policy} after {t}"
                );
            }
        }
    }
}

#[test]
fn xxl_asked_inside_the_first_pass_leaves_out_what_the_clock_has_shown() {
    let schedule =
        CronSchedule::parse("0 30 1 * * ?", "America/New_York", ClockChanges::Xxl).unwrap();
    assert_eq!(
        next(&schedule, "2025-11-02T01:40:00-04:00", 1),
        ["2025-11-03T01:30:00-05:00"]
    );
    let second_pass = millis("2025-11-02T01:30:00-05:00");
    assert_eq!(
        schedule.after(Ask::Instant, None, millis("2025-11-02T01:40:00-04:00")),
        Some(second_pass)
    );
}
