//! Jobs that keep a limit: they are fired by hand, several at once, so that some of their runs wait.

use serde_json::json;

use super::APP;
use super::jobs::Planned;
use crate::executor::work::SLOW;

/// The limit of these jobs.
pub const LIMIT: &str = "scarce";

/// How many of their runs may be at work together.
pub const SLOTS: i64 = 2;

/// The part of the load.
pub const GROUP: &str = "limited";

pub fn limited() -> Vec<Planned> {
    let one = |number: usize| Planned {
        group: GROUP,
        draft: json!({
            "app": APP, "name": format!("{GROUP} {number}"), "handler": "work", "params": SLOW,
            "schedule": {"kind": "none"}, "retries": 0, "limits": [LIMIT],
        }),
    };
    (0..6).map(one).collect()
}
