//! How long runs are kept, and what is left of them.

use serde_json::{Value, json};

use super::build::{answer, list_of, nullable, object, schema};
use crate::store::retention::{DEFAULT, MAX_DAYS, MAX_FAILURES, MAX_RUNS};

fn numbers(with_null: bool) -> Vec<(&'static str, Value)> {
    let number = |description: &str, most: i32, default: i32| {
        let text = format!("{description} ({default}, where nobody has said anything)");
        let number = json!({"type": "integer", "minimum": 0, "maximum": most, "description": text});
        if with_null { nullable(number) } else { number }
    };
    vec![
        ("days", number("Days for which a run is kept that did not fail; 0: for ever", MAX_DAYS, DEFAULT.days)),
        (
            "failure_days",
            number(
                "Days for which a failed run is kept, and a skipped range; 0: for ever",
                MAX_DAYS,
                DEFAULT.failure_days,
            ),
        ),
        ("failures", number("So many of a job's last failures stay, however old", MAX_FAILURES, DEFAULT.failures)),
        (
            "runs",
            number(
                "So many runs of a job are kept that did not fail, the latest; 0: without limit",
                MAX_RUNS,
                DEFAULT.runs,
            ),
        ),
    ]
}

pub fn retention() -> Value {
    let mut members = numbers(true);
    members.push(("in_force", schema("RetentionInForce")));
    answer("What is set of how long runs are kept, and what holds; null: as the next wider rule says", members)
}

pub fn in_force() -> Value {
    answer("What holds, with what wider rules and the defaults say", numbers(false))
}

pub fn update() -> Value {
    object(
        "How long runs are kept; a member that is null or left out is as the next wider rule says",
        &[],
        numbers(true),
    )
}

pub fn days() -> Value {
    let count = |description: &str| json!({"type": "integer", "minimum": 0, "description": description});
    let day = answer(
        "Runs that are gone",
        vec![
            ("day", json!({"type": "string", "format": "date", "description": "UTC, of their instants"})),
            ("succeeded", count("So many had succeeded")),
            ("failed", count("So many had failed")),
            ("killed", count("So many were killed")),
            ("cancelled", count("So many were never sent")),
        ],
    );
    answer(
        "What is left of runs that were kept long enough",
        vec![("items", list_of(day, "Earliest first")), ("next", json!({"type": "null"}))],
    )
}
