//! Previews and forecasts.

use serde_json::{Value, json};

use super::super::preview::MOST;
use super::build::{answer, id, list_of, nullable, object, text, time, with_default};
use super::job_schemas::definition;

/// A job's members, none of them required but the schedule, and what is asked of them.
pub fn preview_request() -> Value {
    let mut members = definition();
    members.extend([
        ("count", json!({"type": "integer", "minimum": 1, "maximum": MOST, "default": 10})),
        ("from", time("Instants after this, with any offset; now, if it is left out")),
        ("job_id", id("The job that is to be changed: its anchor, offset and fires left are kept as the change would keep them")),
    ]);
    let description = "A job as it would be sent, or its `schedule` alone: with any of `app`, `name` and `handler` the \
        whole job is checked";
    object(description, &[], members)
}

pub fn preview() -> Value {
    let spread = answer(
        "Where the spread puts the job",
        vec![
            ("seconds", json!({"type": "integer", "description": "The window"})),
            ("offset_seconds", json!({"type": "integer", "description": "By how much every instant is moved"})),
            ("why", json!({"type": "string", "description": "For people"})),
        ],
    );
    let day = |description: &str| json!({"type": "string", "format": "date", "description": description});
    let excluded = answer(
        "A day with instants that calendars exclude",
        vec![
            ("day", day("In the zone of the schedule")),
            ("moved_to", nullable(day("Where its instants go; null: they are left out"))),
            ("calendars", list_of(json!({"type": "string"}), "The calendars that exclude it")),
        ],
    );
    answer(
        "What a schedule will do",
        vec![
            ("items", list_of(time("An instant"), "Earliest first")),
            ("timezone", text("The zone of the schedule; UTC for kinds that have none", 1, 64)),
            ("local", list_of(json!({"type": "string", "format": "date-time"}), "The same instants in that zone")),
            ("ends", json!({"type": "boolean", "description": "There are no more than these"})),
            ("spread", nullable(spread)),
            ("excluded", list_of(excluded, "Up to the last of these instants, at most 50 days")),
            (
                "warnings",
                list_of(
                    json!({"type": "string"}),
                    "For people: what the clock changes of the coming year do, and more",
                ),
            ),
        ],
    )
}

pub fn forecast() -> Value {
    let fires = || json!({"type": "integer", "minimum": 1});
    let minute = answer(
        "A minute that has fires",
        vec![
            ("at", time("Its beginning")),
            ("fires", fires()),
            (
                "apps",
                json!({"type": "object", "additionalProperties": fires(), "description": "Fires of each app, by its name"}),
            ),
        ],
    );
    let second = answer("A second that has fires", vec![("at", time("Its beginning")), ("fires", fires())]);
    answer(
        "What all enabled jobs together will do",
        vec![
            ("from", time("Nothing before it is counted")),
            ("to", time("What was asked for")),
            (
                "complete_to",
                time("Everything before it is counted; earlier than `to` if there are more than a million fires"),
            ),
            ("jobs", json!({"type": "integer", "minimum": 0, "description": "Enabled jobs that fire in the span"})),
            (
                "more_jobs",
                with_default(
                    json!({"type": "boolean", "description": "There are more jobs than the 200,000 that were looked at"}),
                    json!(false),
                ),
            ),
            ("fires", json!({"type": "integer", "minimum": 0})),
            (
                "apps",
                json!({"type": "object", "additionalProperties": fires(), "description": "Fires of each app, by its name"}),
            ),
            ("minutes", list_of(minute, "Earliest first; minutes without fires are left out")),
            ("busiest", list_of(second, "The 20 busiest seconds, the busiest first")),
        ],
    )
}
