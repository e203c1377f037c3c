//! The jobs: about fifty instants a second.

use serde_json::{Value, json};

use super::{APP, CALENDAR, HANG, HOLE};
use crate::clock::{Millis, text};
use crate::executor::work::MIXED;

/// A job before it has an id.
pub struct Planned {
    pub group: &'static str,
    pub draft: Value,
}

/// Jobs that run after others and never by themselves.
pub fn children() -> Vec<Planned> {
    let child = |number: usize| Planned {
        group: "child",
        draft: json!({
            "app": APP, "name": format!("child {number}"), "handler": "work", "schedule": {"kind": "none"},
            "retries": if number.is_multiple_of(2) { 0 } else { 2 },
        }),
    };
    (0..3).map(child).collect()
}

/// Jobs after each of whose fires these children run.
pub fn parents(children: &[i64], misfire_seconds: i64) -> Vec<Planned> {
    let parent = |(number, child): (usize, &i64)| Planned {
        group: "parent",
        draft: json!({
            "app": APP, "name": format!("parent {number}"), "handler": "work", "params": MIXED,
            "schedule": {"kind": "fixed_rate", "seconds": 5}, "misfire_threshold_seconds": misfire_seconds,
            "retries": if number.is_multiple_of(2) { 2 } else { 0 }, "children": [child],
        }),
    };
    children.iter().enumerate().map(parent).collect()
}

/// When two hundred jobs fire at once.
#[derive(Clone, Copy)]
pub enum Herd {
    Once(Millis),
    EveryFiveMinutes,
}

impl Herd {
    fn schedule(self) -> Value {
        match self {
            Self::Once(at) => json!({"kind": "once", "at": text(at)}),
            Self::EveryFiveMinutes => {
                json!({"kind": "cron", "expression": "0 */5 * * * ?", "timezone": "UTC"})
            }
        }
    }
}

/// All others. `misfire_seconds`: how late an instant still runs as if it were on time.
pub fn plan(herd: Herd, misfire_seconds: i64) -> Vec<Planned> {
    let mut all = Vec::new();
    let rate = |seconds: i64| json!({"kind": "fixed_rate", "seconds": seconds});
    // Half at most once, half with two retries.
    let retries = |number: usize| json!({"retries": if number.is_multiple_of(2) { 0 } else { 2 }});
    let mut add = |group: &'static str, count: usize, schedule: &Value, change: &Value| {
        for number in 0..count {
            let mut draft = json!({
                "app": APP, "name": format!("{group} {number}"), "handler": "work", "params": MIXED,
                "schedule": schedule, "misfire_threshold_seconds": misfire_seconds,
                "misfire": if number % 4 < 2 { "fire_once" } else { "skip" },
                "route": if number % 5 == 4 { "random" } else { "round_robin" },
            });
            merge(&mut draft, &retries(number));
            merge(&mut draft, change);
            all.push(Planned { group, draft });
        }
    };
    add("every_2", 60, &rate(2), &json!({}));
    add("every_5", 30, &rate(5), &json!({}));
    add("all", 10, &rate(1), &json!({"catch_up": "all"}));
    add("latest", 5, &rate(1), &json!({"catch_up": "latest", "retries": 0}));
    let minute = json!({"kind": "cron", "expression": "0 * * * * ?", "timezone": "UTC"});
    add("minute", 10, &minute, &json!({}));
    add("herd", 200, &herd.schedule(), &json!({"params": ""}));
    add("edited", 5, &step(0, 2), &json!({"params": ""}));
    // A failure in a pause has no further attempt.
    add("resting", 4, &rate(1), &json!({"params": "", "retries": 0}));
    add("counted", 2, &counted(&[]), &json!({"params": "", "retries": 0}));
    add("counted", 2, &counted(&[CALENDAR]), &json!({"params": "", "retries": 0}));
    // One that fires by hand only.
    add("by_hand", 4, &json!({"kind": "none"}), &json!({}));
    add("hole", 4, &rate(5), &json!({"app": HOLE, "params": ""}));
    // Poisoned: no other job may be late because of them.
    add("hang", 2, &rate(10), &json!({"app": HANG, "retries": 0}));
    add("unknown_handler", 1, &rate(5), &json!({"handler": "nobody", "retries": 0}));
    add("bad_zone", 1, &minute, &json!({"name": "bad zone"}));
    add("no_next", 1, &minute, &json!({"name": "no next"}));
    add("large", 1, &rate(10), &json!({"name": "large", "params": ""}));
    all
}

/// The load of a rehearsal: as many jobs, each due every second, with nothing but quick runs, half of them at most once.
pub fn busy(jobs: usize) -> Vec<Planned> {
    let one = |number: usize| Planned {
        group: "busy",
        draft: json!({
            "app": APP, "name": format!("busy {number}"), "handler": "work", "params": "",
            "schedule": {"kind": "fixed_rate", "seconds": 1}, "misfire_threshold_seconds": 60,
            "retries": if number.is_multiple_of(2) { 0 } else { 2 },
        }),
    };
    (0..jobs).map(one).collect()
}

/// Every `seconds` seconds of each minute, starting at second `from`: unlike a rate this schedule has no anchor that an edit could move.
pub fn step(from: u64, seconds: u64) -> Value {
    json!({"kind": "cron", "expression": format!("{from}/{seconds} * * * * ?"), "timezone": "UTC"})
}

/// Each second until this many fires are used up, which is about when the faults end.
fn counted(calendars: &[&str]) -> Value {
    let mut schedule = step(0, 1);
    merge(&mut schedule, &json!({"max_fires": 45, "calendars": calendars}));
    schedule
}

/// The members of the second are put into the first.
pub fn merge(draft: &mut Value, change: &Value) {
    if let (Some(draft), Some(change)) = (draft.as_object_mut(), change.as_object()) {
        draft.extend(change.clone());
    }
}
