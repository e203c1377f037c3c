//! Time zone data: what is compiled in, folders of compiled zones, and the choice between them.

use carillon_scheduler::{ClockChanges, CronSchedule};
use chrono::{DateTime, SecondsFormat};

/// The first fire of `0 0 9 * * ?` after 2026-11-25T00:00:00Z, in UTC.
fn nine_o_clock(zone: &str) -> String {
    let schedule = CronSchedule::parse("0 0 9 * * ?", zone, ClockChanges::Carillon).expect("valid");
    let from = DateTime::parse_from_rfc3339("2026-11-25T00:00:00Z").expect("a time").timestamp_millis();
    let next = DateTime::from_timestamp_millis(schedule.next_after(from).expect("it fires")).expect("in range");
    next.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// British Columbia keeps the time of its summer from 2026 on.
#[test]
fn r040a_vancouver_is_seven_hours_behind_utc() {
    assert_eq!(nine_o_clock("America/Vancouver"), "2026-11-25T16:00:00Z");
}

/// So does Manitoba.
#[test]
fn r040b_winnipeg_is_five_hours_behind_utc() {
    assert_eq!(nine_o_clock("America/Winnipeg"), "2026-11-25T14:00:00Z");
}

/// Cuba stays on summer time in the winter of 2026.
#[test]
fn r040e_havana_is_four_hours_behind_utc() {
    assert_eq!(nine_o_clock("America/Havana"), "2026-11-25T13:00:00Z");
}
