use super::expression::CronSchedule;
use crate::calendar::ClockChanges;

fn problem(expression: &str) -> String {
    CronSchedule::parse(expression, "UTC", ClockChanges::Carillon).unwrap_err().message
}

#[test]
fn messages_name_the_field_and_the_allowed_values() {
    for (expression, message) in [
        ("0 0 25 * * ?", "hour field: 25 is not allowed; hours are 0 to 23 (field 3 of 6: `25`)"),
        (
            "0 0 0 ? * 0 2025",
            "day-of-week field: 0 is not allowed; days of the week are 1 to 7 (1 is Sunday) or SUN to SAT \
             (field 6 of 7: `0`)",
        ),
        ("0 0 0 1 JA ?", "month field: `JA` is not allowed; months are 1 to 12 or JAN to DEC (field 5 of 6: `JA`)"),
        ("0 */75 * * * ?", "minute field: `75` is not a step; steps of minutes are 1 to 59 (field 2 of 6: `*/75`)"),
        ("0/0 * * * * ?", "second field: `0` is not a step; steps of seconds are 1 to 59 (field 1 of 6: `0/0`)"),
        ("5,,7 * * * * ?", "second field: a value is missing; seconds are 0 to 59 (field 1 of 6: `5,,7`)"),
        (
            "0 0 0 ? * MON-FRI/2",
            "day-of-week field: a step does not go with names; write `2-6/2` (field 6 of 6: `MON-FRI/2`)",
        ),
        ("0 0 0 ? * SUN-3", "day-of-week field: a range has two numbers or two names (field 6 of 6: `SUN-3`)"),
        (
            "0 0 0 ? * 6#9",
            "day-of-week field: `6#9` is not allowed; write 6#3 or FRI#3 alone, for the third Friday (1 to 5) \
             (field 6 of 6: `6#9`)",
        ),
        ("0 0 0 0W * ?", "day-of-month field: `0W` is not allowed; write 1W to 31W, LW or L-3W (field 4 of 6: `0W`)"),
        (
            "0 0 0 L-31 * ?",
            "day-of-month field: `L-31` is not allowed; write L, L-1 to L-30 or LW (field 4 of 6: `L-31`)",
        ),
        (
            "0 0 0 1 1 ? 2030-2028",
            "year field: `2030-2028` ends before it starts; write the earlier year first (field 7 of 7: `2030-2028`)",
        ),
        (
            "0 0 9 15 * MON",
            "day-of-month and day-of-week fields (4 and 6): exactly one of them must be `?`, such as \
             `0 0 9 ? * MON` or `0 0 9 1 * ?`",
        ),
        (
            "*/5 * * * *",
            "the number of fields is 5; it needs six or seven: second minute hour day-of-month month day-of-week [year]; \
             a Unix cron is kind unix_cron",
        ),
        ("@daily", "`@daily` is not known; write `0 0 0 * * ?`"),
    ] {
        assert_eq!(problem(expression), message);
    }
}

#[test]
fn r043_a_zone_inside_an_expression_is_refused_with_the_member_for_it() {
    let message = "must not name a time zone; write `Europe/Berlin` as the member `timezone`";
    assert_eq!(problem("CRON_TZ=Europe/Berlin 0 6 * * *"), message);
    assert_eq!(problem("TZ=Europe/Berlin 0 0 6 * * ?"), message);
    assert_eq!(problem("cron_tz=Europe/Berlin 0 6 * * *"), message);
}

#[test]
fn r044_an_interval_inside_an_expression_is_refused_with_the_kind_for_it() {
    for expression in ["@every 10s", "@every 1h30m", "@Every 10s"] {
        let message = "`@every` is no expression; an interval is a schedule of the kind fixed_rate, with `seconds`";
        assert_eq!(problem(expression), message);
    }
}
