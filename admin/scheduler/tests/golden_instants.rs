//! A hundred instants of each kind, planned one by one, against a list that another program made (from the zone data of
//! another library). The job was created at 2024-12-31T23:59:30.5Z; runs of the fixed delay take 1.5 s.

use std::sync::Arc;

use carillon_scheduler::{Calendar, Millis, PlanInput, Schedule, ScheduleContext, ScheduleDraft, plan};
use chrono::{DateTime, SecondsFormat};

const GOLDEN: &str = include_str!("golden_instants.tsv");
const START: Millis = 1_735_689_600_000;

fn work() -> Arc<Calendar> {
    let json = r#"{"name": "work", "weekdays": ["SAT", "SUN"], "days": ["2025-01-01"]}"#;
    Arc::new(serde_json::from_str(json).expect("a calendar"))
}

fn text(at: Millis) -> String {
    let at = DateTime::from_timestamp_millis(at).expect("in range");
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

// covers: 000-2, 003-22
#[test]
fn a_hundred_instants_of_each_kind() {
    let calendars = [work()];
    let facts = ScheduleContext { anchor_at: START - 29_500, spread_offset_seconds: 90, calendars: &calendars };
    for line in GOLDEN.lines().skip(1) {
        let (draft, instants) = line.split_once('\t').expect("two columns");
        let draft: ScheduleDraft = serde_json::from_str(draft).expect("a draft");
        let schedule = Schedule::parse(&draft, &facts).expect("valid");
        let expected: Vec<&str> = instants.split(' ').collect();
        let timing = PlanInput::new(&schedule);
        let mut at = schedule.first_after(START);
        let planned = std::iter::from_fn(|| {
            let plan = plan(&timing, at?, at?, at?, 1);
            let fire = *plan.fires.first()?;
            at = plan.next_fire_at.or_else(|| schedule.after_end(fire + 1_500));
            Some(text(fire))
        });
        assert_eq!(planned.take(100).collect::<Vec<_>>(), expected, "{draft:?}");
    }
}

/// No code depends on the zone of the machine.
// covers: 6.12
#[test]
fn the_zone_of_the_machine_does_not_matter() {
    for zone in ["Asia/Shanghai", "America/New_York", "Pacific/Chatham"] {
        let itself = std::env::current_exe().expect("this program");
        let output = std::process::Command::new(itself)
            .args(["--exact", "a_hundred_instants_of_each_kind"])
            .env("TZ", zone)
            .output()
            .expect("it runs");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains("1 passed"), "{zone}: {stdout}");
    }
}
