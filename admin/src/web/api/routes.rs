//! Every path of the API: its methods, what each needs, their handlers, and what the OpenAPI document says about them.

use actix_web::http::Method;
use carillon_accounts::policy::Action::{Administer, Edit, View};
use utoipa::PartialSchema;
use utoipa::openapi::{ArrayBuilder, Content, ObjectBuilder, Ref, ResponseBuilder};

use super::endpoint::Endpoint;
use super::extract::parameter::{flag, id, number, text, time};
use super::records::{alarms, audit, misfires};
use super::view::{CalendarView, words};
use super::{alerts, apps, calendars, forecast, jobs, openapi, pauses, reports, retention, runs};
use crate::web::access::Access::Policy;
use crate::web::access::Target::{AnyApp, App, Installation, Job, Shared};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const DELETE: Method = Method::DELETE;

/// In the order of the document; the methods of a path follow each other.
pub fn all() -> Vec<Endpoint> {
    let groups = [
        apps::routes(),
        pauses::routes(),
        of_retention(),
        of_calendars(),
        jobs::routes(),
        runs::routes(),
        of_audit(),
        alerts::routes(),
        others(),
    ];
    groups.into_iter().flatten().collect()
}

fn of_retention() -> Vec<Endpoint> {
    let get =
        |endpoint: Endpoint, id, whose| endpoint.describe("retention", id, &format!("How long runs {whose} are kept"));
    let set = |endpoint: Endpoint, id, whose| {
        let endpoint = endpoint.describe("retention", id, &format!("Set how long runs {whose} are kept"));
        endpoint.body::<retention::RetentionUpdate>()
    };
    let all = "of all jobs without a rule of their own or of their app";
    vec![
        get(Endpoint::json(GET, "/retention", Policy(View, Shared), retention::get_all), "getRetention", all),
        set(
            Endpoint::json(PUT, "/retention", Policy(Administer, Installation), retention::put_all),
            "setRetention",
            all,
        ),
        get(
            Endpoint::json(GET, "/apps/{id}/retention", Policy(View, App), retention::get_app),
            "getRetentionOfApp",
            "of an app's jobs",
        ),
        set(
            Endpoint::json(PUT, "/apps/{id}/retention", Policy(Administer, App), retention::put_app),
            "setRetentionOfApp",
            "of an app's jobs",
        ),
        get(
            Endpoint::json(GET, "/jobs/{id}/retention", Policy(View, Job), retention::get_job),
            "getRetentionOfJob",
            "of a job",
        ),
        set(
            Endpoint::json(PUT, "/jobs/{id}/retention", Policy(Edit, Job), retention::put_job),
            "setRetentionOfJob",
            "of a job",
        ),
    ]
}

fn of_calendars() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/calendars", Policy(View, Shared), calendars::list)
            .describe("calendars", "listCalendars", "Calendars, by name")
            .page(text()),
        Endpoint::new(POST, "/calendars", Policy(Edit, Shared), calendars::create)
            .describe("calendars", "createCalendar", "Create a calendar")
            .body::<calendars::CalendarRequest>()
            .answers::<CalendarView>(201)
            .fails([409]),
        Endpoint::json(GET, "/calendars/{name}", Policy(View, Shared), calendars::get).describe(
            "calendars",
            "getCalendar",
            "A calendar",
        ),
        Endpoint::json(PUT, "/calendars/{name}", Policy(Edit, Shared), calendars::update)
            .describe(
                "calendars",
                "updateCalendar",
                "Create a new version of a calendar; every job that uses it is planned anew before the answer",
            )
            .body::<calendars::CalendarUpdate>()
            .fails([409]),
        Endpoint::new(DELETE, "/calendars/{name}", Policy(Edit, Shared), calendars::delete)
            .describe("calendars", "deleteCalendar", "Delete a calendar that no job uses")
            .answers_nothing()
            .fails([409]),
        Endpoint::json(GET, "/calendars/{name}/versions", Policy(View, Shared), calendars::versions)
            .describe("calendars", "listCalendarVersions", "The versions of a calendar, newest first")
            .page(id()),
    ]
}

fn of_audit() -> Vec<Endpoint> {
    let export = Endpoint::new(GET, "/audit/export", Policy(Administer, AnyApp), audit::export).describe(
        "audit",
        "exportAudit",
        "Up to 100000 entries of the audit, newest first, as JSON lines or CSV; `after` with the last `key` goes on",
    );
    let mut export = filters_of_audit(export).query("format", "`jsonl`, the default, or `csv`", text());
    let mark = "`true`: a CSV file begins with a byte order mark, which Excel needs";
    export = export.query("bom", mark, text()).query("after", "Behind the entry with this `key`", text());
    let response = ResponseBuilder::new().description("Done");
    let response = response.content("application/x-ndjson", Content::new(Some(ObjectBuilder::new())));
    let response = response.content("text/csv", Content::new(Some(text())));
    export.operation = export.operation.response("200", response);
    let list = Endpoint::json(GET, "/audit", Policy(Administer, AnyApp), audit::list).describe(
        "audit",
        "listAudit",
        "What was done and refused, newest first; administrators of an app see what concerns the app",
    );
    vec![filters_of_audit(list).page(text()), export]
}

fn filters_of_audit(endpoint: Endpoint) -> Endpoint {
    let actions = ArrayBuilder::new().items(Ref::from_schema_name("AuditAction"));
    endpoint
        .query("actor", "The whole name of the actor", text())
        .query("action", "Any of these: repeated, or separated by commas", actions)
        .query("object", "About an object of this kind", words::AuditObjectKind::schema())
        .query("object_id", "About the object with this number", id())
        .query("app", "About an object of this app", text())
        .query("source", "From this address", text())
        .query("from", "`at` at or after this", time())
        .query("to", "`at` before this", time())
}

fn others() -> Vec<Endpoint> {
    let kinds = ArrayBuilder::new().items(Ref::from_schema_name("AlarmKind"));
    let object = Content::new(Some(ObjectBuilder::new()));
    let mut document = Endpoint::open(GET, "/openapi.json", openapi::serve);
    let response = ResponseBuilder::new().description("OpenAPI 3.1").content("application/json", object);
    document.operation = document.operation.response("200", response);
    vec![
        Endpoint::json(GET, "/misfires", Policy(View, AnyApp), misfires::list)
            .describe("misfires", "listMisfires", "Skipped ranges, newest first")
            .query("job_id", "Of this job", id())
            .query("from", "Ranges with a part at or after this", time())
            .query("to", "Ranges with a part before this", time())
            .page(text()),
        Endpoint::json(GET, "/alarms", Policy(View, AnyApp), alarms::list)
            .describe("alarms", "listAlarms", "Alarms, newest first")
            .query("kind", "Of any of these kinds: repeated, or separated by commas", kinds)
            .query("job_id", "About this job", id())
            .query("run_id", "About this run", id())
            .query("open", "true: only alarms that need an operator; false: only the others", flag())
            .query("escalated", "true: only alarms of level 1; false: only the others", flag())
            .query("from", "`created_at` at or after this", time())
            .query("to", "`created_at` before this", time())
            .page(text()),
        Endpoint::json(POST, "/preview", Policy(View, AnyApp), jobs::preview)
            .describe("ahead", "preview", "What a definition would do that is not saved")
            .body::<jobs::PreviewRequest>()
            .fails([404]),
        Endpoint::json(GET, "/forecast", Policy(View, AnyApp), forecast::forecast)
            .describe("ahead", "forecast", "What all enabled jobs together will do")
            .query("hours", "How far to look", number(24, forecast::MAX_HOURS)),
        Endpoint::json(GET, "/reports", Policy(View, AnyApp), reports::report)
            .describe("reports", "report", "Runs, success rate, durations and lateness by day, app or job")
            .query("days", "days up to and including today, in the zone of the reports", number(reports::DAYS, reports::MAX_DAYS))
            .query("group", "`day`, the default, `app` or `job`", text())
            .query("app", "Of this app", text())
            .query("job_id", "Of this job", id())
            .query(
                "sort",
                "`name` (days: the latest first), `runs`, `failed`, `success` (the lowest first), `duration` or `lateness` (p95); \
                 if left out, `name` for days and `runs` for apps and jobs",
                text(),
            )
            .query("limit", "Lines at most", number(reports::LIMIT, reports::MAX_LIMIT)),
        document.describe("document", "getDocument", "This document; needs no token"),
    ]
}
