use serde_json::{Value, json};

use super::draft::ScheduleDraft;
use super::schedule_input::ScheduleInput;
use crate::field_error::FieldError;

fn read(json: Value) -> Result<ScheduleDraft, String> {
    let input: ScheduleInput = serde_path_to_error::deserialize(json).map_err(|error| error.to_string())?;
    input.try_into().map_err(|error: FieldError| error.to_string())
}

#[test]
fn omitted_members_have_their_defaults() {
    let draft = read(json!({"kind": "cron", "expression": "0 0 12 * * ?"})).unwrap();
    assert_eq!(draft, ScheduleDraft::cron("0 0 12 * * ?", "UTC"));
    assert_eq!(
        serde_json::to_value(&draft).unwrap(),
        json!({"kind": "cron", "expression": "0 0 12 * * ?", "timezone": "UTC", "clock_changes": "carillon"})
    );
    assert_eq!(read(json!({"kind": "none"})), Ok(ScheduleDraft::none()));
    assert_eq!(read(json!({"kind": "fixed_rate", "seconds": 5})), Ok(ScheduleDraft::fixed_rate(5)));
}

#[test]
fn errors_name_their_member() {
    for (json, message) in [
        (
            json!({"kind": "weekly"}),
            "kind: `weekly` is not a kind; allowed: none, cron, unix_cron, fixed_rate, fixed_delay, once, daily",
        ),
        (json!({"kind": "cron"}), "expression: missing; kind cron needs it"),
        (json!({"kind": "fixed_rate"}), "seconds: missing; kind fixed_rate needs it"),
        (
            json!({"kind": "fixed_delay", "seconds": 5, "anchor_at": "2026-01-01T00:00:00Z"}),
            "anchor_at: a schedule of kind fixed_delay does not have it",
        ),
        (json!({"kind": "none", "seconds": 5}), "seconds: a schedule of kind none does not have it"),
        (json!({"kind": "fixed_rate", "seconds": "5"}), "seconds: invalid type: string \"5\", expected i64"),
        (
            json!({"kind": "cron", "expression": "* * * * * ?", "clock_changes": "java"}),
            "clock_changes: `java` is not a clock change policy; allowed: carillon, xxl",
        ),
        (
            json!("0 0 12 * * ?"),
            "invalid type: string \"0 0 12 * * ?\", expected schedule as an object such as {\"kind\":\"none\"}",
        ),
    ] {
        assert_eq!(read(json).unwrap_err(), message);
    }
    let unknown = read(json!({"kind": "none", "zone": "UTC"})).unwrap_err();
    assert!(unknown.starts_with("zone: unknown field `zone`, expected one of `kind`, `expression`"), "{unknown}");
}

#[test]
fn every_kind_round_trips() {
    for json in [
        json!({"kind": "unix_cron", "expression": "*/5 * * * 1-5", "timezone": "Europe/Berlin", "clock_changes": "xxl"}),
        json!({"kind": "fixed_delay", "seconds": 30, "max_fires": 3}),
        json!({"kind": "once", "at": "2026-01-01T00:00:00Z"}),
        json!({"kind": "daily", "every_seconds": 600, "from": "09:00:00", "to": "17:30:00", "weekdays": ["MON", "FRI"],
               "timezone": "UTC", "clock_changes": "carillon"}),
        json!({"kind": "fixed_rate", "seconds": 5, "start_at": "2026-01-01T00:00:00Z", "end_at": "2026-06-01T12:30:00.500Z",
               "spread_seconds": 60, "spread_offset_seconds": 59, "anchor_at": "2025-01-01T00:00:01Z", "calendars": ["bank holidays"], "on_excluded": "next_working_day"}),
    ] {
        let draft = read(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&draft).unwrap(), json);
    }
}

#[test]
fn members_of_all_kinds_are_read() {
    for (json, message) in [
        (json!({"kind": "none", "max_fires": 3}), "max_fires: a schedule of kind none does not have it"),
        (json!({"kind": "once"}), "at: missing; kind once needs it"),
        (
            json!({"kind": "once", "at": "tomorrow"}),
            "at: `tomorrow` is not a time; write RFC 3339 such as 2026-01-31T18:30:00Z or 2026-01-31T18:30:00+08:00",
        ),
        (
            json!({"kind": "daily", "every_seconds": 60, "from": "09:00", "to": "10:00", "weekdays": ["MO"]}),
            "weekdays[0]: `MO` is not a weekday; allowed: MON, TUE, WED, THU, FRI, SAT, SUN",
        ),
        (
            json!({"kind": "fixed_rate", "seconds": 5, "max_fires": -1}),
            "max_fires: invalid value: integer `-1`, expected u32",
        ),
    ] {
        assert_eq!(read(json).unwrap_err(), message);
    }
}
