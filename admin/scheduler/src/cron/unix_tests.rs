use chrono::{Datelike, NaiveDate, NaiveDateTime};

use carillon_cron::Dialect;

use super::expression::CronSchedule;
use crate::calendar::{ClockChanges, WallTimes};

fn unix(expression: &str) -> CronSchedule {
    CronSchedule::parse_dialect(Dialect::Unix, expression, "UTC", ClockChanges::Carillon)
        .unwrap_or_else(|error| panic!("{expression}: {error}"))
}

fn quartz(expression: &str) -> CronSchedule {
    CronSchedule::parse(expression, "UTC", ClockChanges::Carillon).unwrap()
}

fn problem(expression: &str) -> String {
    let zone = "UTC";
    CronSchedule::parse_dialect(Dialect::Unix, expression, zone, ClockChanges::Carillon).unwrap_err().message
}

/// The matching days of July 2025, which begins on a Tuesday.
fn july(expression: &str) -> Vec<u32> {
    let wall = unix(expression).times;
    let midnight = |day| -> NaiveDateTime {
        let date = NaiveDate::from_ymd_opt(2025, 7, day).unwrap();
        date.and_hms_opt(0, 0, 0).unwrap()
    };
    (1..=31)
        .filter(|&day| wall.at_or_after(midnight(day)).is_some_and(|at| at.month() == 7 && at.day() == day))
        .collect()
}

/// The same times of the same days as the Quartz expression, for two years.
fn same(unix_expression: &str, quartz_expression: &str) {
    let (a, b) = (unix(unix_expression), quartz(quartz_expression));
    let mut t = 1_735_689_600_000;
    for _ in 0..200 {
        assert_eq!(a.next_after(t), b.next_after(t), "{unix_expression}");
        t = a.next_after(t).unwrap() + 59_999;
    }
}

#[test]
fn fields_have_the_same_meaning_as_in_quartz() {
    same("*/15 * * * *", "0 */15 * * * ?");
    same("5,35 8-18/2 * * *", "0 5,35 8-18/2 * * ?");
    same("0 9 1 JAN,jul *", "0 0 9 1 1,7 ?");
    same("0 22-2 * * *", "0 0 22-2 * * ?");
    same("10/20 6 * * *", "0 10/20 6 * * ?");
}

#[test]
fn sunday_is_0_and_7() {
    for sunday in ["0", "7", "sun", "Sunday", "0,7", "7-0"] {
        same(&format!("0 9 * * {sunday}"), "0 0 9 ? * 1");
    }
    same("0 9 * * 1-5", "0 0 9 ? * MON-FRI");
    same("0 9 * * 5-7", "0 0 9 ? * FRI-SUN");
    same("0 9 * * FRI-SUN", "0 0 9 ? * FRI-SUN");
    same("0 9 * * SAT-MON", "0 0 9 ? * SAT-MON");
    same("0 9 * * 6-1", "0 0 9 ? * SAT-MON");
    same("0 9 * * */2", "0 0 9 ? * 1,3,5,7");
    same("0 9 * * 0-7", "0 0 9 ? * *");
    same("0 9 * * 1/3", "0 0 9 ? * 2,5,1");
}

#[test]
fn with_both_day_fields_given_either_fits() {
    assert_eq!(july("0 0 13 * FRI"), [4, 11, 13, 18, 25]);
    assert_eq!(july("0 0 1,2 * 1-7"), (1..=31).collect::<Vec<_>>());
    assert_eq!(july("0 0 1-31/10 * 5"), [1, 4, 11, 18, 21, 25, 31]);
}

#[test]
fn a_day_field_that_begins_with_a_star_counts_as_not_given() {
    assert_eq!(july("0 0 * * FRI"), [4, 11, 18, 25]);
    assert_eq!(july("0 0 13 * *"), [13]);
    assert_eq!(july("0 0 */2 * FRI"), [11, 25], "the Fridays among the odd days");
    assert_eq!(july("0 0 11-14 * */2"), [12, 13], "0, 2, 4 and 6 among them");
}

#[test]
fn words_stand_for_expressions() {
    for (word, expression) in [
        ("@hourly", "0 0 * * * ?"),
        ("@daily", "0 0 0 * * ?"),
        ("@midnight", "0 0 0 * * ?"),
        ("@Weekly", "0 0 0 ? * SUN"),
        (" @monthly ", "0 0 0 1 * ?"),
    ] {
        same(word, expression);
    }
    for word in ["@yearly", "@annually"] {
        assert_eq!(unix(word).next_after(1_735_689_600_000), Some(1_767_225_600_000));
    }
    assert_eq!(unix(" @monthly ").expression(), "@monthly");
    assert_eq!(unix("0 9\n* *\t *").expression(), "0 9 * * *");
}

#[test]
fn messages_name_the_field_and_the_allowed_values() {
    for (expression, message) in [
        ("0 25 * * *", "hour field: 25 is not allowed; hours are 0 to 23 (field 2 of 5: `25`)"),
        ("*/75 * * * *", "minute field: `75` is not a step; steps of minutes are 1 to 59 (field 1 of 5: `*/75`)"),
        ("0 0 0 * *", "day-of-month field: 0 is not allowed; days of the month are 1 to 31 (field 3 of 5: `0`)"),
        ("0 0 L * *", "day-of-month field: `L` is not allowed; days of the month are 1 to 31 (field 3 of 5: `L`)"),
        (
            "0 0 * * 8",
            "day-of-week field: 8 is not allowed; days of the week are 0 to 7 (0 and 7 are Sunday) or SUN to SAT \
             (field 5 of 5: `8`)",
        ),
        (
            "0 0 * * MON-FRI/2",
            "day-of-week field: a step does not go with names; write `1-5/2` (field 5 of 5: `MON-FRI/2`)",
        ),
        ("0 0 ? * MON", "day-of-month field: `?` is not allowed; days of the month are 1 to 31 (field 3 of 5: `?`)"),
        ("0 0 * 13 *", "month field: 13 is not allowed; months are 1 to 12 or JAN to DEC (field 4 of 5: `13`)"),
        (
            " ",
            "must not be empty; its fields are minute hour day-of-month month day-of-week, such as `30 9 * * MON-FRI`",
        ),
        (
            "0 0 12 * * ?",
            "the number of fields is 6; a Unix cron has five: minute hour day-of-month month day-of-week; one with seconds is kind \
             cron",
        ),
        ("0 0 12 *", "the number of fields is 4; a Unix cron has five: minute hour day-of-month month day-of-week"),
        (
            "@reboot",
            "`@reboot` names the start of a machine, which is no time; run the job through the API when that is done",
        ),
        ("@every", "`@every` is no expression; an interval is a schedule of the kind fixed_rate, with `seconds`"),
    ] {
        assert_eq!(problem(expression), message);
    }
    assert!(problem(&"1,".repeat(300)).contains("at most 500"));
}
