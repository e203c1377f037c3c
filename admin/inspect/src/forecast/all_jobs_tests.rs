use carillon_scheduler::{JobDraft, ScheduleDraft};
use serde_json::json;

use crate::forecast::all_jobs::*;
use carillon_store::{Calendars, EnabledSchedule};

/// 2025-10-09T00:00:00Z
const MIDNIGHT: Millis = 1_759_968_000_000;
const DAY: Millis = 24 * 3_600_000;

fn job(job_id: i64, app: &str, schedule: serde_json::Value) -> EnabledSchedule {
    EnabledSchedule {
        job_id,
        app: app.to_owned(),
        schedule_text: schedule.to_string(),
        anchor_at: MIDNIGHT,
        spread_offset: 0,
        calendars: Calendars::default(),
        fires_left: None,
        next_fire_at: MIDNIGHT - 1000,
    }
}

fn hourly() -> serde_json::Value {
    json!({"kind": "cron", "expression": "0 0 * * * ?"})
}

fn flows(jobs: &[EnabledSchedule]) -> FireWalk {
    let mut flows = FireWalk::between(MIDNIGHT, MIDNIGHT + DAY);
    jobs.iter().for_each(|job| flows.add(job));
    flows
}

fn forecast(jobs: &[EnabledSchedule]) -> Forecast {
    count(flows(jobs), MIDNIGHT, MIDNIGHT + DAY)
}

#[test]
fn fires_are_counted_by_minute_and_app() {
    let thrice = json!({"kind": "fixed_rate", "seconds": 20, "end_at": "2025-10-09T00:00:59Z"});
    let found = forecast(&[job(1, "billing", hourly()), job(2, "shipping", thrice), job(3, "billing", hourly())]);
    assert_eq!((found.jobs, found.fires, found.complete_to), (3, 24 + 24 + 2, MIDNIGHT + DAY));
    assert_eq!(found.apps, ["billing", "shipping"]);
    assert_eq!(found.minutes.len(), 24);
    let first = &found.minutes[0];
    assert_eq!((first.at, first.fires, &first.apps[..]), (MIDNIGHT, 4, &[(0, 2), (1, 2)][..]));
    assert_eq!(found.minutes[1].at, MIDNIGHT + 3_600_000);
    assert_eq!(found.busiest.len(), TOP);
    assert_eq!(found.busiest[0], (MIDNIGHT, 2), "the earliest of the busiest");
    assert!(found.busiest.windows(2).all(|pair| pair[0].1 >= pair[1].1));
}

#[test]
fn what_is_used_up_or_spoilt_does_not_fire() {
    let left = EnabledSchedule { fires_left: Some(3), ..job(1, "a", hourly()) };
    let none = EnabledSchedule { fires_left: Some(0), ..job(2, "a", hourly()) };
    let spoilt = job(3, "a", json!("spoilt"));
    let later = EnabledSchedule { next_fire_at: MIDNIGHT + 22 * 3_600_000, ..job(4, "a", hourly()) };
    assert_eq!(forecast(&[left, none, spoilt, later]).fires, 3 + 2);
}

#[test]
fn an_answer_that_stops_early_is_complete_up_to_where_it_says() {
    let each = || json!({"kind": "cron", "expression": "* * * * * ?"});
    let mut flows = flows(&[job(1, "a", each()), job(2, "a", each())]);
    let mut seen = 0;
    let complete_to = flows.walk(1001, |at, _| {
        assert!(at < MIDNIGHT + 501_000);
        seen += 1;
    });
    assert_eq!((seen, complete_to), (1002, MIDNIGHT + 501_000));
}

#[test]
fn a_spread_avoids_the_busy_seconds_and_is_counted_in() {
    // The first ten minutes of each hour are taken, but for the 300th second.
    let busy = |second: i64| json!({"kind": "cron", "expression": format!("{} {} * * * ?", second % 60, second / 60)});
    let jobs: Vec<EnabledSchedule> =
        (0..600).filter(|second| *second != 300).map(|second| job(second, "a", busy(second))).collect();
    let mut loads = LoadBySecond::count(flows(&jobs), MIDNIGHT);
    let draft = |name: &str| {
        let mut draft = JobDraft::new("billing", name, "closeDay");
        draft.schedule = ScheduleDraft::cron("0 0 * * * ?", "UTC");
        draft.schedule.spread_seconds = 600;
        draft
    };
    let none = Calendars::default();
    let chosen = loads.choose(&draft("one"), &none, MIDNIGHT);
    assert_eq!((chosen.offset_seconds, chosen.instants), (300, 48));
    assert_eq!((chosen.met, chosen.met_without), (0, 48));
    // It stands there now, so the next one is not drawn to the same second.
    let next = loads.clone().choose(&draft("two"), &none, MIDNIGHT);
    assert_eq!(next.met, 48);
    assert_eq!(loads.choose(&draft("two"), &none, MIDNIGHT), next, "it is stable");
    let mut plain = draft("three");
    plain.schedule.spread_seconds = 0;
    assert_eq!(loads.choose(&plain, &none, MIDNIGHT), crate::forecast::load::SpreadChoice::default());
}

#[test]
fn a_weekly_job_is_weighed_by_the_same_time_of_the_coming_day() {
    let mut loads = LoadBySecond::count(flows(&[job(1, "a", hourly())]), MIDNIGHT);
    let mut draft = JobDraft::new("billing", "weekly", "closeDay");
    draft.schedule = ScheduleDraft::cron("0 0 3 ? * SUN", "UTC");
    draft.schedule.spread_seconds = 2;
    let chosen = loads.choose(&draft, &Calendars::default(), MIDNIGHT);
    assert_eq!((chosen.offset_seconds, chosen.met, chosen.met_without), (1, 0, 48));
}
