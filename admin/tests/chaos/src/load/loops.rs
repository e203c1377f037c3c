//! Loops: jobs that one executor of our SDK fires by itself, two of 100 ms and one of a second.

use serde_json::{Value, json};

use super::APP;
use super::jobs::Planned;

/// The handler, which tells the observer of each call.
pub const HANDLER: &str = "tick";

/// The part of the load.
pub const GROUP: &str = "loop";

/// How long an executor has a loop after a renewal, as the product promises.
pub const LEASE_MS: i64 = 5_000;

pub fn loops() -> Vec<Planned> {
    let fast = json!({"kind": "fixed_rate", "milliseconds": 100});
    let schedules = [fast.clone(), fast, json!({"kind": "fixed_rate", "seconds": 1})];
    let job = |(number, schedule): (usize, Value)| Planned {
        group: GROUP,
        draft: json!({
            "app": APP, "name": format!("{GROUP} {number}"), "handler": HANDLER, "durability": "best_effort",
            "schedule": schedule, "retries": 0,
        }),
    };
    schedules.into_iter().enumerate().map(job).collect()
}
