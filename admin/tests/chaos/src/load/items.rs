//! Jobs that hand in items: three of them, each every fifteen seconds, for executors of our SDK alone.

use serde_json::json;

use super::APP;
use super::jobs::{Planned, step};

/// Items of one run.
pub const ITEMS: i64 = 90;

/// The label of the executors that have handlers of items.
pub const LABEL: (&str, &str) = ("items", "yes");

/// Handlers, with and without a last run that reads the results.
pub const MAP: &str = "map";
pub const MAP_REDUCE: &str = "map_reduce";

/// One whose items may be executed once, one with two retries, one with a reduce. One of them begins every five seconds.
pub fn maps(misfire_seconds: i64) -> Vec<Planned> {
    let kinds = [(MAP, 0), (MAP, 2), (MAP_REDUCE, 1)];
    let map = |(number, (handler, retries)): (u64, (&str, i32))| Planned {
        group: "map",
        draft: json!({
            "app": APP, "name": format!("map {number}"), "handler": handler, "params": ITEMS.to_string(),
            "schedule": step(5 * number + 1, 15), "misfire_threshold_seconds": misfire_seconds, "retries": retries,
            "route": "round_robin", "route_labels": format!("{}={}", LABEL.0, LABEL.1),
        }),
    };
    (0..).zip(kinds).map(map).collect()
}
