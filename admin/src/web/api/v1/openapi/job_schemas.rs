//! Jobs.

use carillon_scheduler::{BlockStrategy, CatchUp, MisfirePolicy, Overlap, RetryDelay, RouteStrategy};
use serde_json::{Value, json};

use super::build::{answer, id, nullable, object, schema, text, time, with_default, words};

const REQUIRED: [&str; 3] = ["app", "name", "handler"];

pub fn job_request() -> Value {
    object("A job as it is sent", &REQUIRED, definition())
}

pub fn job_update() -> Value {
    let mut members = definition();
    let ignored = |what: &str| json!({"description": format!("{what}; taken from an answer, ignored here")});
    members.push(("id", json!({"type": "integer", "description": "Must be the one of the path, if it is there"})));
    members.push(("revision", json!({
        "type": "integer",
        "description": "The revision that you have seen: the update is refused (409 `changed`) if the job has another one by now"
    })));
    members.extend([
        ("next_fire_at", ignored("Next fire")),
        ("paused_reason", ignored("Why the engine paused it")),
        ("spread_offset_seconds", ignored("Offset")),
        ("fires_left", ignored("Runs that are left")),
        ("created_at", ignored("Creation")),
        ("updated_at", ignored("Last change")),
    ]);
    object("The whole job; an answer may be changed and sent back as it is", &REQUIRED, members)
}

pub fn job() -> Value {
    let mut members = definition();
    members.extend([
        ("id", id("Below 2^31")),
        (
            "next_fire_at",
            nullable(time(
                "The next instant at which it fires: of a run that is planned and not due yet, or else the first one that is not planned; null if it is paused or never fires again",
            )),
        ),
        (
            "paused_reason",
            nullable(json!({"type": "string", "description": "Why the engine has paused it"})),
        ),
        (
            "spread_offset_seconds",
            json!({"type": "integer", "minimum": 0, "description": "By how much every instant is moved within `spread_seconds`"}),
        ),
        (
            "fires_left",
            nullable(json!({"type": "integer", "minimum": 0, "description": "Runs that are left of `max_fires`; null: no limit"})),
        ),
        (
            "revision",
            json!({"type": "integer", "format": "int64", "description": "Grows with each change"}),
        ),
        ("created_at", time("When it was made")),
        ("updated_at", time("When it was changed last")),
    ]);
    answer("A job", members)
}

pub fn definition() -> Vec<(&'static str, Value)> {
    [what(), when(), how()].concat()
}

fn what() -> Vec<(&'static str, Value)> {
    let params = text("Given to the handler as it is; at most 65,536 bytes", 0, 65_536);
    vec![
        ("app", text("Name of the app whose executors run it", 4, 64)),
        ("name", text("What people call it; need not be unique", 1, 64)),
        ("handler", text("What the executor calls it", 1, 255)),
        ("params", with_default(params, json!(""))),
    ]
}

fn when() -> Vec<(&'static str, Value)> {
    let late = "Instants late by at most the misfire threshold: all run, or the latest";
    let missed = "Instants later than that: one fire makes up for them, or none";
    let (catch_ups, policies) = (CatchUp::ALL.iter(), MisfirePolicy::ALL.iter());
    vec![
        ("schedule", with_default(schema("Schedule"), json!({"kind": "none"}))),
        ("catch_up", choice(catch_ups.map(|w| w.as_str()), late)),
        ("misfire", choice(policies.map(|w| w.as_str()), missed)),
        ("misfire_threshold_seconds", number(1, 86_400, 60, "How late is too late")),
        ("misfire_limit", number(1, 1_000, 100, "fire_all: so many of the missed instants run, the latest")),
        (
            "misfire_window_seconds",
            number(1, 86_400, 3_600, "fire_within: missed instants run that are at most so old"),
        ),
        ("enabled", json!({"type": "boolean", "default": true, "description": "Whether its schedule is in force"})),
    ]
}

fn how() -> Vec<(&'static str, Value)> {
    let busy = "What the executor does while an earlier run of the job is running";
    let (routes, blocks) = (RouteStrategy::ALL.iter(), BlockStrategy::ALL.iter());
    vec![
        ("route", choice(routes.map(|w| w.as_str()), "Which executor gets a run")),
        (
            "route_labels",
            json!({
                "type": "string", "default": "", "examples": ["zone=eu,gpu=yes"],
                "description": "Only executors with all of these labels get its runs"
            }),
        ),
        ("block", choice(blocks.map(|w| w.as_str()), busy)),
        (
            "overlap",
            choice(
                Overlap::ALL.iter().map(|w| w.as_str()),
                "What the admin does with a run while another fire of the job is sending or running, in the whole cluster",
            ),
        ),
        ("overlap_queue", number(1, 1_000, 10, "overlap wait: so many runs may wait, the rest is skipped")),
        ("timeout_seconds", number(0, 604_800, 0, "The executor stops a run after so many seconds; 0: never")),
        ("retries", number(0, 100, 0, "How often a failed run is tried again")),
        ("retry_delay", with_default(retry_delay(), json!(RetryDelay::default()))),
        (
            "flag_after_seconds",
            number(
                0,
                86_400,
                0,
                "A run that has not been sent so long after it was due is flagged, with an alarm; 0: as the server says (30 s)",
            ),
        ),
        (
            "children",
            json!({
                "type": "array", "items": id("A job"), "maxItems": 100, "uniqueItems": true, "default": [],
                "description": "The jobs that run once after each fire of this one that succeeded (a broadcast: when all its parts \
                    have), enabled or not. They get its result as parameters, unless they have their own; a broadcast's as an array \
                    in the order of parts. A job never runs after itself"
            }),
        ),
    ]
}

/// How long a job waits before a retry.
fn retry_delay() -> Value {
    let exponential = object(
        "Doubled with each attempt, moved by up to 20 % either way",
        &["kind"],
        vec![
            ("kind", json!({"const": "exponential"})),
            ("base_seconds", number(0, 86_400, 5, "After the first failure; 0: at once")),
            ("cap_seconds", number(1, 604_800, 300, "At most, and not below the base")),
        ],
    );
    let one = json!({"type": "integer", "minimum": 0, "maximum": 604_800});
    let fixed = object(
        "Exactly these; the last one stands for all further retries",
        &["kind", "seconds"],
        vec![
            ("kind", json!({"const": "fixed"})),
            ("seconds", json!({"type": "array", "items": one, "minItems": 1, "maxItems": 100})),
        ],
    );
    json!({"description": "From a failure to the next attempt", "oneOf": [exponential, fixed]})
}

pub fn number(min: i64, max: i64, default: i64, description: &str) -> Value {
    json!({"type": "integer", "minimum": min, "maximum": max, "default": default, "description": description})
}

/// Words of which the first is the default.
pub fn choice<'a>(all: impl Iterator<Item = &'a str> + Clone, description: &str) -> Value {
    let first = json!(all.clone().next());
    with_default(words(all, description), first)
}
