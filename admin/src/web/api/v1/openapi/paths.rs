//! The paths and their parameters.

use serde_json::{Value, json};

use super::super::caller::KEY_HEADER;
use super::super::forecast::MOST_HOURS;
use super::super::jobs::KINDS;
use super::super::preview::MOST;
use super::super::query::{LIMIT, MAX_LIMIT};
use super::build::{schema, time, words};
use super::operation::{Operation, operation};
use crate::store::MAX_KEY_CHARS;

pub fn all() -> Value {
    json!({
        "/openapi.json": {"get": document()},
        "/apps": {
            "get": operation("apps", "listApps", "All apps, by name").answers("200", "AppList").done(),
            "post": operation("apps", "createApp", "Make an app").body("AppRequest").answers("201", "App").fails([409]).done()
        },
        "/calendars": {
            "get": operation("calendars", "listCalendars", "Calendars, by name").takes([shared("Limit"), after_text()])
                .answers("200", "CalendarList").done(),
            "post": operation("calendars", "createCalendar", "Make a calendar").body("CalendarRequest")
                .answers("201", "Calendar").fails([409]).done()
        },
        "/calendars/{name}": calendar(),
        "/calendars/{name}/versions": on_name("get", operation("calendars", "listCalendarVersions", "Its versions, newest first")
            .takes([shared("Limit"), after_id()]).answers("200", "CalendarVersionList")),
        "/apps/{id}/executors": {
            "parameters": [shared("Id")],
            "get": operation("apps", "listExecutors", "Executors that have registered for an app, by address")
                .answers("200", "ExecutorList").fails([404]).done(),
            "put": operation("apps", "updateExecutor", "Set the weight and the labels of an executor")
                .body("ExecutorUpdate").answers("200", "Executor").fails([404]).done()
        },
        "/retention": retention("", "of every job that nothing else is said of"),
        "/apps/{id}/retention": retention("OfApp", "of the jobs of an app"),
        "/jobs/{id}/retention": retention("OfJob", "of a job"),
        "/jobs/{id}/days": on_id("get", operation("jobs", "countDays", "Counts of runs that are gone, by day and how they ended")
            .takes([query("from", "From the day of this time; a year ago, if it is left out", time("")),
                query("to", "Up to the day of this time; today, if it is left out", time(""))]).answers("200", "DayCounts")),
        "/jobs": {
            "get": operation("jobs", "listJobs", "Jobs, newest first").takes(job_filter()).answers("200", "JobList").done(),
            "post": creation("createJob", "Make a job").body("JobRequest").answers("201", "Job").done()
        },
        "/jobs:batch": {
            "post": creation("createJobs", "Make up to 1000 jobs, all or none; answered in their order")
                .body("JobBatch").answers("201", "JobList").done()
        },
        "/jobs/{id}": job(),
        "/jobs/{id}/enable": on_id("post", operation("jobs", "enableJob",
            "Let its schedule begin now; after a pause by the engine it goes on where it stopped").answers("200", "Job").fails([409])),
        "/jobs/{id}/disable": on_id("post", operation("jobs", "disableJob",
            "Stop its schedule; its runs that were not sent yet are cancelled").answers("200", "Job")),
        "/jobs/{id}/run": on_id("post", operation("jobs", "runJob", "Run a job now, enabled or not")
            .takes([shared("IdempotencyKey")]).body("RunRequest").answers("200", "Run")),
        "/jobs/{id}/next": on_id("get", operation("jobs", "nextInstants",
            "The instants of its schedule from now on, enabled or not").takes([count(), from()]).answers("200", "Preview").fails([409])),
        "/jobs/{id}/explain": on_id("get", operation("jobs", "explainInstant",
            "The story of one instant: what became of it, or why it is none or nothing came of it").takes([instant()]).answers("200", "Explanation")),
        "/jobs/{id}/backfill": on_id("post", operation("backfills", "backfillJob",
            "Run a job for the instants of its schedule in a range of the past, each at most once whatever is asked for later; \
             `dry_run` only lists them").body("BackfillRequest").answers("200", "BackfillInstants").answers("202", "Backfill")),
        "/jobs/{id}/backfills": on_id("get", operation("backfills", "listBackfills", "Backfills of a job, newest first")
            .takes([shared("Limit"), after_id()]).answers("200", "BackfillList")),
        "/backfills/{id}": on_id("get", operation("backfills", "getBackfill", "A backfill").answers("200", "Backfill")),
        "/backfills/{id}/cancel": on_id("post", operation("backfills", "cancelBackfill",
            "Make no further runs; those that are there stay").answers("200", "Backfill")),
        "/runs": {
            "get": operation("runs", "listRuns", "Runs, newest first").takes(run_filter()).answers("200", "RunList").done()
        },
        "/runs/{id}": on_id("get", operation("runs", "getRun", "A run").answers("200", "Run")),
        "/runs/{id}/kill": on_id("post", operation("runs", "killRun", "Ask for the end of a run").answers("200", "Kill").fails([502])),
        "/runs/{id}/resolve": on_id("post", operation("runs", "resolveRun",
            "Say what became of a run that is `unknown` or `lost`: it counts as evidence, brings the children of a success, and calls off \
             a retry that was not sent").body("Resolution").answers("200", "Run").fails([409])),
        "/runs/{id}/log": on_id("get", operation("runs", "readLog", "Lines of a run's log, from its executor")
            .takes([from_line()]).answers("200", "Log").fails([502])),
        "/misfires": {
            "get": operation("misfires", "listMisfires", "Skipped ranges, newest first")
                .takes(misfire_filter()).answers("200", "MisfireList").done()
        },
        "/alarms": {
            "get": operation("alarms", "listAlarms", "Alarms, newest first")
                .takes(alarm_filter()).answers("200", "AlarmList").done()
        },
        "/preview": {
            "post": operation("ahead", "preview", "What a definition would do that is not saved").body("PreviewRequest")
                .answers("200", "Preview").fails([404]).done()
        },
        "/forecast": {
            "get": operation("ahead", "forecast", "What all enabled jobs together will do").takes([hours()])
                .answers("200", "Forecast").done()
        }
    })
}

fn retention(name: &str, whose: &str) -> Value {
    let get = format!("How long runs {whose} are kept");
    let put = format!("Set how long runs {whose} are kept");
    let of = |what: &str, summary: &str| {
        let operation = operation("retention", &format!("{what}Retention{name}"), summary).answers("200", "Retention");
        if name.is_empty() { operation } else { operation.fails([404]) }
    };
    let mut item = json!({"get": of("get", &get).done(), "put": of("set", &put).body("RetentionUpdate").done()});
    if !name.is_empty() {
        item["parameters"] = json!([shared("Id")]);
    }
    item
}

fn document() -> Value {
    let mut document = operation("document", "getDocument", "This document; needs no token").open().done();
    document["responses"]["200"] =
        json!({"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {"type": "object"}}}});
    document
}

fn calendar() -> Value {
    let update = "Give a calendar another version; every job that uses it is planned anew before this is answered";
    json!({
        "parameters": [shared("Name")],
        "get": operation("calendars", "getCalendar", "A calendar").answers("200", "Calendar").fails([404]).done(),
        "put": operation("calendars", "updateCalendar", update).body("CalendarUpdate").answers("200", "Calendar")
            .fails([404, 409]).done(),
        "delete": operation("calendars", "deleteCalendar", "Delete a calendar that no job uses")
            .answers_nothing().fails([404, 409]).done()
    })
}

fn on_name(method: &str, operation: Operation) -> Value {
    let mut item = json!({"parameters": [shared("Name")]});
    item[method] = operation.fails([404]).done();
    item
}

fn after_text() -> Value {
    query("after", "`next` of the page before", json!({"type": "string"}))
}

fn after_id() -> Value {
    let id = json!({"type": "integer", "format": "int64"});
    query("after", "`next` of the page before", id)
}

fn job() -> Value {
    let update = "Give a job another definition, in force at once: runs that are not yet due are replaced";
    json!({
        "parameters": [shared("Id")],
        "get": operation("jobs", "getJob", "A job").answers("200", "Job").fails([404]).done(),
        "put": operation("jobs", "updateJob", update).body("JobUpdate").answers("200", "Job").fails([404, 409]).done(),
        "delete": operation("jobs", "deleteJob", "Delete a job; its runs stay, and those not sent yet are cancelled")
            .answers_nothing().fails([404]).done()
    })
}

fn creation(id: &str, summary: &str) -> Operation {
    operation("jobs", id, summary).takes([shared("IdempotencyKey")]).fails([409])
}

fn on_id(method: &str, operation: Operation) -> Value {
    let mut item = json!({"parameters": [shared("Id")]});
    item[method] = operation.fails([404]).done();
    item
}

pub fn shared_parameters() -> Value {
    json!({
        "Id": {"name": "id", "in": "path", "required": true, "schema": {"type": "integer", "format": "int64", "minimum": 1}},
        "Name": {"name": "name", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1, "maxLength": 64}},
        "Limit": query("limit", "Items on a page", json!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": LIMIT})),
        "IdempotencyKey": {
            "name": KEY_HEADER,
            "in": "header",
            "description": "A request that is repeated with the same key makes nothing new and is answered what the first one made",
            "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS}
        }
    })
}

fn count() -> Value {
    query("count", "How many", json!({"type": "integer", "minimum": 1, "maximum": MOST, "default": 5}))
}

fn instant() -> Value {
    let mut at = query("at", "The instant, with any offset", time(""));
    at["required"] = json!(true);
    at
}

fn from() -> Value {
    query("from", "Instants after this; now, if it is left out", time(""))
}

fn hours() -> Value {
    let hours = json!({"type": "integer", "minimum": 1, "maximum": MOST_HOURS, "default": 24});
    query("hours", "How far to look", hours)
}

fn from_line() -> Value {
    query("from", "The first line wanted", json!({"type": "integer", "minimum": 1, "default": 1}))
}

fn job_filter() -> Vec<Value> {
    vec![
        query("text", "Part of the name or the handler, or the whole id", json!({"type": "string"})),
        query("app", "The app's name", json!({"type": "string"})),
        query("enabled", "Only enabled ones, or only others", json!({"type": "boolean"})),
        query("kind", "The schedule's kind", words(KINDS, "")),
        shared("Limit"),
        after_id(),
    ]
}

fn run_filter() -> Vec<Value> {
    let states = json!({"type": "array", "items": schema("RunState")});
    vec![
        query("job_id", "Of this job", json!({"type": "integer", "format": "int64"})),
        query("app", "Of this app", json!({"type": "string"})),
        query("state", "In any of these states: repeated, or separated by commas", states),
        query("cause", "With this cause", schema("Cause")),
        query("from", "`scheduled_at` at or after this", time("")),
        query("to", "`scheduled_at` before this", time("")),
        shared("Limit"),
        after_id(),
    ]
}

fn misfire_filter() -> Vec<Value> {
    vec![
        query("job_id", "Of this job", json!({"type": "integer", "format": "int64"})),
        query("from", "Ranges with a part at or after this", time("")),
        query("to", "Ranges with a part before this", time("")),
        shared("Limit"),
        after_text(),
    ]
}

fn alarm_filter() -> Vec<Value> {
    let id = || json!({"type": "integer", "format": "int64"});
    let kinds = json!({"type": "array", "items": schema("AlarmKind")});
    vec![
        query("kind", "Of any of these kinds: repeated, or separated by commas", kinds),
        query("job_id", "About this job", id()),
        query("run_id", "About this run", id()),
        query("open", "Those that wait for somebody, or the others", json!({"type": "boolean"})),
        query("escalated", "Those of level 1, or the others", json!({"type": "boolean"})),
        query("from", "`created_at` at or after this", time("")),
        query("to", "`created_at` before this", time("")),
        shared("Limit"),
        after_text(),
    ]
}

fn shared(name: &str) -> Value {
    json!({"$ref": format!("#/components/parameters/{name}")})
}

fn query(name: &str, description: &str, schema: Value) -> Value {
    json!({"name": name, "in": "query", "description": description, "schema": schema})
}
