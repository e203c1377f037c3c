//! Everything but the jobs: apps, runs, skipped ranges, errors.

use carillon_scheduler::{AlarmKind, Cause, MisfirePolicy, RunState, SkipReason};
use serde_json::{Map, Value, json};

use super::super::error::CODES;
use super::super::views::KILLS;
use super::build::{answer, id, list, nullable, object, schema, text, time, words};
use super::{ahead_schemas, explained_schemas, job_schemas, retention_schemas, route_schemas, schedule_schemas};
use crate::pipeline::{MAX_CONCURRENT, MAX_INSTANTS, NOTE_CHARS};

pub fn all() -> Value {
    let next_place = || nullable(json!({"type": "string", "description": "The next page's `after`"}));
    let next_id = || nullable(id("The next page's `after`"));
    let mut schemas = json!({
        "App": app(),
        "AppRequest": object("An app as it is sent", &["name"], vec![
            ("name", text("Letters, digits, `-`, `_`, `.`; the first a letter or a digit", 4, 64)),
            ("title", nullable(text("For people; the name, if it is left out", 0, 64))),
        ]),
        "AppList": list("App", json!({"type": "null"})),
        "Executor": route_schemas::executor(),
        "ExecutorUpdate": route_schemas::executor_update(),
        "ExecutorList": list("Executor", json!({"type": "null"})),
        "Calendar": schedule_schemas::calendar(),
        "CalendarRequest": schedule_schemas::calendar_request(),
        "CalendarUpdate": schedule_schemas::calendar_update(),
        "CalendarList": list("Calendar", next_place()),
        "CalendarVersion": schedule_schemas::calendar_version(),
        "CalendarVersionList": list("CalendarVersion", next_id()),
        "Backfill": backfill(),
        "BackfillRequest": backfill_request(),
        "BackfillList": list("Backfill", next_id()),
        "BackfillInstants": answer("What a backfill would run", vec![
            ("instants", count("Instants in the range")),
            ("skipped", count("Those of them that have their run already, from an earlier backfill")),
            ("items", json!({"type": "array", "items": time("An instant")})),
        ]),
        "Schedule": schedule_schemas::schedule(),
        "Job": job_schemas::job(),
        "JobRequest": job_schemas::job_request(),
        "JobUpdate": job_schemas::job_update(),
        "JobList": list("Job", next_id()),
        "JobBatch": {"type": "array", "minItems": 1, "maxItems": 1000, "items": schema("JobRequest")},
        "RunRequest": object("How this one run differs from the job; both members may be left out", &[], vec![
            ("params", nullable(text("In place of the job's own; at most 65,536 bytes", 0, 65_536))),
            ("address", nullable(json!({"type": "string", "description": "The registered executor that is to run it"}))),
        ]),
        "Preview": ahead_schemas::preview(),
        "PreviewRequest": ahead_schemas::preview_request(),
        "Forecast": ahead_schemas::forecast(),
        "Explanation": explained_schemas::explanation(),
        "Explained": explained_schemas::explained(),
        "Error": error()
    });
    if let (Some(all), Value::Object(more)) = (schemas.as_object_mut(), of_runs()) {
        all.extend(more);
    }
    schemas
}

/// Runs, and what becomes of them and of instants without one.
fn of_runs() -> Value {
    let next_id = || nullable(id("The next page's `after`"));
    let next_place = || nullable(json!({"type": "string", "description": "The next page's `after`"}));
    json!({
        "RunState": words(RunState::ALL.iter().map(|state| state.as_str()), "`unknown` and `lost` were sent, but their outcome is not known"),
        "Cause": words(Cause::ALL.iter().map(|cause| cause.as_str()), "Why the fire exists"),
        "Run": run(),
        "Choice": route_schemas::choice(),
        "RunList": list("Run", next_id()),
        "Kill": answer("What became of a kill", vec![("outcome", words(KILLS, "`cancelled`: it had not been sent and never will be; `asked`: the executor was asked, the end comes later"))]),
        "Resolution": object("What a person knows of a run", &["outcome", "note"], vec![
            ("outcome", words(["succeeded", "failed"], "What became of it")),
            ("note", text("How you know; kept in the run's message and in the audit", 1, NOTE_CHARS as u32)),
        ]),
        "Log": log(),
        "Misfire": misfire(),
        "MisfireList": list("Misfire", next_place()),
        "AlarmKind": words(AlarmKind::ALL.iter().map(|kind| kind.as_str()), "What it is about"),
        "Alarm": alarm(),
        "AlarmList": list("Alarm", next_place()),
        "Retention": retention_schemas::retention(),
        "RetentionInForce": retention_schemas::in_force(),
        "RetentionUpdate": retention_schemas::update(),
        "DayCounts": retention_schemas::days()
    })
}

fn count(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": description})
}

fn backfill_request() -> Value {
    let concurrent = json!({"type": "integer", "minimum": 1, "maximum": MAX_CONCURRENT, "default": 1,
        "description": "So many backfill runs of the job may be open at once"});
    let dry = json!({"type": "boolean", "default": false, "description": "Only list the instants"});
    let to = format!("The end, itself left out; not in the future. At most {MAX_INSTANTS} instants lie between");
    object(
        "A range of the past",
        &["from", "to"],
        vec![
            ("from", time("The first moment")),
            ("to", time(&to)),
            ("max_concurrent", nullable(concurrent)),
            ("dry_run", nullable(dry)),
        ],
    )
}

fn backfill() -> Value {
    let states = ["running", "released", "cancelled"];
    answer(
        "A backfill; its runs have the cause `backfill`",
        vec![
            ("id", id("Its id")),
            ("job_id", id("The job")),
            ("from", time("The first moment")),
            ("to", time("The end, itself left out")),
            ("max_concurrent", count("So many of its runs may be open at once")),
            ("instants", count("Instants in the range")),
            ("released", count("Runs that it has made")),
            ("skipped", count("Instants that had their run already")),
            ("state", words(states.into_iter(), "`released`: every instant has its run")),
            ("created_at", time("When it was asked for")),
            ("finished_at", nullable(time("When nothing was left to do"))),
        ],
    )
}

fn app() -> Value {
    answer(
        "An app",
        vec![
            ("id", id("Its number")),
            ("name", text("What executors register under", 4, 64)),
            ("title", text("For people", 0, 64)),
            ("created_at", time("When it was made")),
        ],
    )
}

fn run() -> Value {
    let optional_time = |description: &str| nullable(time(description));
    let number = |min: i64, description: &str| json!({"type": "integer", "minimum": min, "description": description});
    answer(
        "A run",
        vec![
            ("id", id("The wire's logId")),
            ("job_id", id("Its job, which may be deleted by now")),
            ("app", json!({"type": "string", "description": "The app's name"})),
            ("job", nullable(json!({"type": "string", "description": "The job's name; null once the job is deleted"}))),
            ("cause", schema("Cause")),
            ("state", schema("RunState")),
            ("scheduled_at", time("The fire's instant")),
            ("due_at", time("When it is to be sent; of a retry it is later than `scheduled_at`")),
            ("sent_at", optional_time("When the request left")),
            ("finished_at", optional_time("When it was settled")),
            ("address", nullable(json!({"type": "string", "description": "The executor"}))),
            ("attempt", number(1, "1, and more for retries")),
            ("shard_index", number(0, "Of a broadcast: its share, from 0")),
            ("shard_total", number(1, "Of a broadcast: of how many")),
            ("parent_run_id", nullable(id("Of a child's run: the first run of the parent's fire"))),
            (
                "kill_asked_at",
                nullable(time("When its end was asked for; while it is `running` the end is still to come")),
            ),
            ("flagged_at", nullable(time("When it had not been sent for longer than its job allows"))),
            ("message", json!({"type": "string", "description": "What the executor said, or why it was not run"})),
            // Told with a single run; null in lists, and until something is chosen.
            (
                "revision",
                nullable(json!({
                    "type": "integer",
                    "format": "int64",
                    "description": "The job's revision that it was sent with; null: not sent yet, or by a version that did not note it"
                })),
            ),
            (
                "params",
                nullable(json!({
                    "type": "string",
                    "description": "Told with a single run only: what it was given; while it is not sent, what it would be given now. Null: not on record, or it was never sent"
                })),
            ),
            ("choice", nullable(schema("Choice"))),
        ],
    )
}

fn log() -> Value {
    let line = |description: &str| json!({"type": "integer", "description": description});
    answer(
        "Lines of a run's log",
        vec![
            ("from", line("Number of the first line asked for")),
            ("to", line("Number of the last line in `content`; below `from` if there is nothing new")),
            ("content", json!({"type": "string"})),
            ("end", json!({"type": "boolean", "description": "The run has ended and everything was read"})),
        ],
    )
}

fn misfire() -> Value {
    answer(
        "Instants of a job that did not run; both ends are instants and belong to it",
        vec![
            ("job_id", id("The job")),
            ("from", time("The first of them")),
            ("to", time("The last of them")),
            (
                "count",
                json!({"type": "integer", "minimum": 1, "maximum": 10_000, "description": "10,000 means so many or more"}),
            ),
            ("policy", words(MisfirePolicy::ALL.iter().map(|policy| policy.as_str()), "The job's misfire policy then")),
            (
                "reason",
                words(
                    SkipReason::ALL.iter().map(|reason| reason.as_str()),
                    "Too late, or late and only the latest was wanted",
                ),
            ),
        ],
    )
}

fn alarm() -> Value {
    answer(
        "What somebody should hear of",
        vec![
            ("id", id("Its number")),
            ("kind", schema("AlarmKind")),
            ("job_id", nullable(id("The job, if it is about one"))),
            ("run_id", nullable(id("The run, if it is about one"))),
            ("message", json!({"type": "string", "description": "For people"})),
            ("created_at", time("When it was raised")),
            (
                "open",
                json!({"type": "boolean", "description": "It waits for somebody: its run's outcome is not known, or its job is paused, or its run waits. Others only tell what happened"}),
            ),
            (
                "level",
                json!({"type": "integer", "enum": [0, 1], "description": "1: it has been open for so long that it was escalated"}),
            ),
            ("escalated_at", nullable(time("When it was escalated"))),
            ("closed_at", nullable(time("When it was resolved"))),
        ],
    )
}

fn error() -> Value {
    let mut codes: Vec<&str> = CODES.iter().map(|(code, ..)| *code).collect();
    codes.sort_unstable();
    answer(
        "What went wrong",
        vec![(
            "error",
            object(
                "The first fault that was found",
                &["code", "message"],
                vec![
                    ("code", words(codes, "For programs")),
                    (
                        "message",
                        json!({"type": "string", "description": "For people: what is wrong, and what would be right"}),
                    ),
                    (
                        "field",
                        json!({"type": "string", "description": "The member, parameter or header that it is about", "examples": ["schedule.expression", "[3].schedule.expression"]}),
                    ),
                    (
                        "errors",
                        json!({
                            "type": "array", "maxItems": 100, "description": "Every fault, if there is more than one",
                            "items": {"type": "object", "required": ["message"], "properties": {"field": {"type": ["string", "null"]}, "message": {"type": "string"}}}
                        }),
                    ),
                ],
            ),
        )],
    )
}

/// One answer for each status that a failure can have.
pub fn failures() -> Value {
    let mut failures = Map::new();
    for status in statuses() {
        let codes = CODES.iter().filter(|(_, own, _)| *own == status);
        let lines: Vec<String> = codes.map(|(code, _, meaning)| format!("`{code}`: {meaning}")).collect();
        failures.insert(
            format!("Error{status}"),
            json!({
                "description": lines.join("; "),
                "content": {"application/json": {"schema": schema("Error")}}
            }),
        );
    }
    failures.into()
}

fn statuses() -> Vec<u16> {
    // Every path names its own methods, so none of them describes the answer to a wrong one.
    let mut statuses: Vec<u16> = CODES.iter().map(|(_, status, _)| *status).filter(|status| *status != 405).collect();
    statuses.dedup();
    statuses
}
