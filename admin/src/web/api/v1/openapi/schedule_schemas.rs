//! Schedules, one object for each kind, and calendars.

use carillon_scheduler::{ClockChanges, Excluded, Weekday};
use serde_json::{Value, json};

use super::build::{answer, id, object, text, time, with_default, words};
use super::job_schemas::choice;

type Members = Vec<(&'static str, Value)>;

pub fn schedule() -> Value {
    let kinds = [
        none(),
        cron(
            "cron",
            "By the wall clock of a time zone",
            ("second minute hour day-of-month month day-of-week [year]", "0 */5 * * * ?"),
        ),
        cron(
            "unix_cron",
            "The same in five fields; 0 and 7 are Sunday, and of two day fields that are given either one fits",
            ("minute hour day-of-month month day-of-week", "*/5 * * * *"),
        ),
        every("fixed_rate", "Every so many seconds, counted from the second of the job's creation"),
        every("fixed_delay", "So many seconds after the end of the last run, however it ended"),
        once(),
        daily(),
    ];
    json!({"oneOf": kinds, "description": "When it fires"})
}

fn none() -> Value {
    object(
        "Never by itself: only run by hand, by the API or as a child",
        &["kind"],
        vec![("kind", json!({"const": "none"}))],
    )
}

/// A kind with its own members and those of every kind but none.
fn kind(word: &'static str, description: &str, required: &[&str], own: Members) -> Value {
    let mut members = vec![("kind", json!({"const": word}))];
    members.extend(own);
    members.extend(common());
    object(description, &[&["kind"], required].concat(), members)
}

fn cron(word: &'static str, description: &str, (fields, example): (&str, &str)) -> Value {
    let expression = json!({"type": "string", "description": fields, "examples": [example]});
    let mut own = vec![("expression", expression)];
    own.extend(clock());
    kind(word, description, &["expression"], own)
}

fn every(word: &'static str, description: &str) -> Value {
    let seconds = json!({"type": "integer", "minimum": 1, "maximum": 31_536_000});
    kind(word, description, &["seconds"], vec![("seconds", seconds)])
}

fn once() -> Value {
    let at = time("The moment, with any offset; a part of a second counts as the next whole one");
    kind("once", "At one moment", &["at"], vec![("at", at)])
}

fn daily() -> Value {
    let every = json!({"type": "integer", "minimum": 1, "maximum": 86_400, "description": "From `from` on"});
    let time_of_day = |description: &str| {
        json!({
            "type": "string", "pattern": "^[0-2]?[0-9]:[0-5][0-9](:[0-5][0-9])?$",
            "description": description, "examples": ["08:30", "17:00:00"]
        })
    };
    let weekdays = json!({
        "type": "array", "items": weekday(), "uniqueItems": true,
        "description": "Days on which a window begins; all, if it is left out"
    });
    let mut own = vec![
        ("every_seconds", every),
        ("from", time_of_day("The first instant of a day")),
        ("to", time_of_day("No instant lies after it; earlier than `from`, it is of the next day")),
        ("weekdays", weekdays),
    ];
    own.extend(clock());
    let description = "Every so many seconds between two times of day";
    kind("daily", description, &["every_seconds", "from", "to"], own)
}

fn clock() -> Members {
    let policies = ClockChanges::ALL.iter().map(|word| word.as_str());
    vec![
        (
            "timezone",
            json!({"type": "string", "default": "UTC", "description": "IANA name", "examples": ["Europe/Berlin"]}),
        ),
        ("clock_changes", choice(policies, "What happens when the clocks change")),
    ]
}

fn common() -> Members {
    let rules = Excluded::ALL.iter().map(|word| word.as_str());
    vec![
        ("start_at", time("No instant lies before it; any offset is taken")),
        ("end_at", time("No instant lies after it; any offset is taken")),
        (
            "max_fires",
            json!({"type": "integer", "minimum": 1, "maximum": 1_000_000_000, "description": "After so many runs the schedule is exhausted"}),
        ),
        (
            "spread_seconds",
            json!({
                "type": "integer", "default": 0, "anyOf": [{"const": 0}, {"minimum": 2, "maximum": 86_400}],
                "description": "Any second within so many will do: every instant is moved by the same offset below it, which is chosen where the least happens; 0: none"
            }),
        ),
        (
            "calendars",
            json!({"type": "array", "items": {"type": "string"}, "default": [], "description": "Names of calendars that exclude days"}),
        ),
        ("on_excluded", choice(rules, "What becomes of an instant on an excluded day")),
    ]
}

fn weekday() -> Value {
    words(Weekday::ALL.iter().map(|day| day.as_str()), "")
}

fn days(description: &str) -> Value {
    json!({
        "type": "array", "maxItems": 5_000, "uniqueItems": true, "default": [],
        "items": {"type": "string", "format": "date", "examples": ["2026-12-25"]}, "description": description
    })
}

fn content() -> Members {
    vec![
        ("name", text("Jobs name it by this; it does not change", 1, 64)),
        ("title", with_default(text("For people", 0, 255), json!(""))),
        (
            "weekdays",
            json!({"type": "array", "items": weekday(), "uniqueItems": true, "default": [], "description": "Excluded days of the week"}),
        ),
        ("days", days("Excluded days")),
        ("extra", days("Working days, although they or their weekdays are excluded")),
    ]
}

fn version() -> Value {
    json!({"type": "integer", "format": "int64", "minimum": 1, "description": "Grows with each change"})
}

pub fn calendar() -> Value {
    let mut members = content();
    members.extend([
        ("id", id("Its number")),
        ("version", version()),
        ("jobs", json!({"type": "integer", "minimum": 0, "description": "How many jobs use it"})),
        ("created_at", time("When it was made")),
        ("updated_at", time("When it was changed last")),
    ]);
    answer("A calendar; a day is one of the schedule's time zone, of UTC for kinds that have none", members)
}

pub fn calendar_request() -> Value {
    object("A calendar as it is sent", &["name"], content())
}

pub fn calendar_update() -> Value {
    let mut members = content();
    let ignored = |what: &str| json!({"description": format!("{what}; taken from an answer, ignored here")});
    members.extend([
        ("id", ignored("Number")),
        ("version", json!({
            "type": "integer",
            "description": "The version that you have seen: the update is refused (409 `changed`) if the calendar has another one by now"
        })),
        ("jobs", ignored("Number of jobs")),
        ("created_at", ignored("Creation")),
        ("updated_at", ignored("Last change")),
    ]);
    object("The whole calendar; an answer may be changed and sent back as it is", &[], members)
}

pub fn calendar_version() -> Value {
    let mut members = content();
    members.extend([
        ("version", version()),
        ("actor", json!({"type": "string", "description": "Who wrote it"})),
        ("created_at", time("When it was written")),
    ]);
    answer("A version of a calendar", members)
}
