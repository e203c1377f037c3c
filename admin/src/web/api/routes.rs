//! Every path of the API: its methods, what each needs, their handlers, and what the OpenAPI document says about them.

use actix_web::http::Method;
use carillon_accounts::policy::Action::{Administer, Edit, Operate, View};
use carillon_store::{JobSort, RunSort};
use utoipa::PartialSchema;
use utoipa::openapi::{ArrayBuilder, Content, KnownFormat, ObjectBuilder, Ref, ResponseBuilder, SchemaFormat, Type};

use super::endpoint::{Endpoint, integer, number};
use super::pauses::{app_pauses, maintenance_windows};
use super::records::{alarms, audit, misfires};
use super::view::time::Time;
use super::view::{
    AppView, BackfillInstants, BackfillView, CalendarView, ExecutorView, JobView, List, MaintenanceWindowView,
    NewAppTokenView, PauseView, words,
};
use super::{alerts, apps, backfills, calendars, forecast, jobs, openapi, reports, retention, runs};
use crate::web::access::Access::Policy;
use crate::web::access::Target::{AnyApp, App, Backfill, Installation, Job, Run, Shared};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const DELETE: Method = Method::DELETE;

/// In the order of the document; the methods of a path follow each other.
pub fn all() -> Vec<Endpoint> {
    let groups = [
        of_apps(),
        of_pauses(),
        of_retention(),
        of_calendars(),
        of_jobs(),
        of_one_job(),
        of_backfills(),
        of_runs(),
        of_audit(),
        alerts::routes(),
        others(),
    ];
    groups.into_iter().flatten().collect()
}

fn of_apps() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/apps", Policy(View, AnyApp), apps::list::list).describe(
            "apps",
            "listApps",
            "All apps, by name",
        ),
        Endpoint::new(POST, "/apps", Policy(Administer, Installation), apps::list::create)
            .describe("apps", "createApp", "Create an app")
            .body::<apps::list::AppRequest>()
            .answers::<AppView>(201)
            .fails([409]),
        Endpoint::json(PUT, "/apps/{id}", Policy(Administer, Installation), apps::list::update)
            .describe(
                "apps",
                "updateApp",
                "Rename an app, or change its title; its executors may register under the old name until that is removed",
            )
            .body::<apps::list::AppUpdate>()
            .fails([409]),
        Endpoint::new(DELETE, "/apps/{id}", Policy(Administer, Installation), apps::list::delete)
            .describe(
                "apps",
                "deleteApp",
                "Delete an app without jobs and open runs, with its executors, tokens, pauses and alert rules",
            )
            .answers_nothing()
            .fails([409]),
        Endpoint::json(GET, "/apps/{id}/former-names", Policy(View, App), apps::list::former_names).describe(
            "apps",
            "listFormerNames",
            "Names that an app had, and under which its executors may register, by name",
        ),
        Endpoint::new(
            DELETE,
            "/apps/{id}/former-names",
            Policy(Administer, Installation),
            apps::list::remove_former_name,
        )
        .describe("apps", "removeFormerName", "Remove a former name: who registers under it is an executor of no app")
        .required_query("name", "The former name", text())
        .answers_nothing(),
        Endpoint::json(GET, "/apps/{id}/executors", Policy(View, App), apps::executors::list).describe(
            "apps",
            "listExecutors",
            "Executors of an app, by address",
        ),
        Endpoint::new(POST, "/apps/{id}/executors", Policy(Administer, Installation), apps::executors::enter)
            .describe("apps", "enterExecutor", "Enter the address of an executor that need not register")
            .body::<apps::executors::NewExecutor>()
            .answers::<ExecutorView>(201)
            .fails([409]),
        Endpoint::json(PUT, "/apps/{id}/executors", Policy(Administer, App), apps::executors::update)
            .describe("apps", "updateExecutor", "Set the weight and the labels of an executor")
            .body::<apps::executors::ExecutorUpdate>(),
        Endpoint::new(DELETE, "/apps/{id}/executors", Policy(Administer, App), apps::executors::remove)
            .describe(
                "apps",
                "removeExecutor",
                "Remove an executor and what is set for it; one that sends heartbeats is there again with the next one",
            )
            .required_query("address", "The executor's address", text())
            .answers_nothing(),
        Endpoint::json(PUT, "/apps/{id}/executors/drain", Policy(Operate, App), apps::executors::drain)
            .describe(
                "apps",
                "drainExecutor",
                "Set whether an executor gets new runs; what it has ends there. Lasts until it is undone, also when it \
                 registers again",
            )
            .body::<apps::executors::DrainUpdate>(),
        Endpoint::json(GET, "/apps/{id}/tokens", Policy(Administer, App), apps::tokens::list).describe(
            "apps",
            "listAppTokens",
            "The tokens of an app's executors, newest first",
        ),
        Endpoint::new(POST, "/apps/{id}/tokens", Policy(Administer, App), apps::tokens::create)
            .describe("apps", "createAppToken", "Create a token for an app's executors; two can be valid at a time")
            .body::<apps::tokens::AppTokenRequest>()
            .answers::<NewAppTokenView>(201)
            .fails([409]),
        Endpoint::json(PUT, "/apps/{id}/tokens", Policy(Administer, App), apps::tokens::set_rule)
            .describe("apps", "setAppTokenRule", "Set whether an app accepts its own tokens alone")
            .body::<apps::tokens::AppTokenRule>()
            .fails([409]),
        Endpoint::new(DELETE, "/apps/{id}/tokens/{token}", Policy(Administer, App), apps::tokens::revoke)
            .describe("apps", "revokeAppToken", "Revoke a token; every node refuses it within two seconds")
            .answers_nothing(),
    ]
}

fn of_pauses() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/pauses", Policy(View, AnyApp), app_pauses::list).describe(
            "pauses",
            "listPauses",
            "Pauses in force and ahead, by their begin",
        ),
        Endpoint::new(POST, "/pauses", Policy(Operate, AnyApp), app_pauses::create)
            .describe(
                "pauses",
                "createPause",
                "Pause an app, or all apps: no fire of a schedule is sent meanwhile, retries, child jobs and backfills wait; \
                 in force on all nodes within two seconds",
            )
            .body::<app_pauses::NewPause>()
            .answers::<PauseView>(201),
        Endpoint::new(DELETE, "/pauses/{id}", Policy(Operate, AnyApp), app_pauses::end)
            .describe("pauses", "endPause", "End a pause now; one that is ahead is given up")
            .answers_nothing(),
        Endpoint::json(GET, "/maintenance-windows", Policy(View, AnyApp), maintenance_windows::list).describe(
            "pauses",
            "listMaintenanceWindows",
            "Recurring pauses, oldest first, with their next times",
        ),
        Endpoint::new(POST, "/maintenance-windows", Policy(Operate, AnyApp), maintenance_windows::create)
            .describe(
                "pauses",
                "createMaintenanceWindow",
                "Pause an app, or all apps, from each instant of a cron expression for the same time",
            )
            .body::<maintenance_windows::NewMaintenanceWindow>()
            .answers::<MaintenanceWindowView>(201),
        Endpoint::new(DELETE, "/maintenance-windows/{id}", Policy(Operate, AnyApp), maintenance_windows::delete)
            .describe("pauses", "deleteMaintenanceWindow", "Delete a maintenance window; if it is in force, it ends")
            .answers_nothing(),
        Endpoint::new(POST, "/maintenance-windows/{id}/end", Policy(Operate, AnyApp), maintenance_windows::end)
            .describe("pauses", "endMaintenance", "End the maintenance that is in force; the next one begins at its time")
            .answers_nothing(),
    ]
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

fn of_jobs() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/jobs", Policy(View, AnyApp), jobs::list)
            .describe("jobs", "listJobs", "Jobs, newest first unless `sort` names another order")
            .query("text", "Part of the name, the handler, the description or a tag, or the whole id", text())
            .query("app", "The app's name", text())
            .query("owner", "The whole owner", text())
            .query("tag", "One of its tags", text())
            .query("enabled", "true: only enabled jobs; false: only disabled jobs", flag())
            .query("kind", "The schedule's kind", words::ScheduleKind::schema())
            .query(
                "last_result",
                "The result of the last run that has one, among the newest 20,000 runs: any of these, repeated, or separated by commas",
                ArrayBuilder::new().items(Ref::from_schema_name("RunState")),
            )
            .query(
                "sort",
                "`next_fire`: soonest first, only jobs that fire; `last_result`: failures first, only jobs with a result among the \
                 newest 20,000 runs. With an order other than `id`, `after` is the number of jobs before the page",
                text().enum_values(Some(JobSort::WORDS)),
            )
            .page(id()),
        Endpoint::new(POST, "/jobs", Policy(Edit, AnyApp), jobs::create)
            .describe("jobs", "createJob", "Create a job")
            .takes_key()
            .body::<jobs::JobRequest>()
            .answers::<JobView>(201)
            .fails([409]),
        Endpoint::new(POST, "/jobs:batch", Policy(Edit, AnyApp), jobs::create_batch)
            .describe("jobs", "createJobs", "Create up to 1000 jobs, all or none; the answer has their order")
            .takes_key()
            .body::<jobs::JobBatch>()
            .answers::<List<JobView, i64>>(201)
            .fails([409]),
        Endpoint::json(POST, "/jobs/bulk", Policy(Operate, AnyApp), jobs::bulk)
            .describe(
                "jobs",
                "changeJobs",
                "Do one thing with many jobs, each if the caller may; the answer names those that were refused",
            )
            .takes_key()
            .body::<jobs::JobBulk>()
            .fails([409]),
        Endpoint::json(GET, "/jobs/{id}", Policy(View, Job), jobs::get).describe("jobs", "getJob", "A job"),
        Endpoint::json(PUT, "/jobs/{id}", Policy(Edit, Job), jobs::update)
            .describe(
                "jobs",
                "updateJob",
                "Give a job another definition, in force at once: runs that are not yet due are replaced",
            )
            .body::<jobs::JobUpdate>()
            .fails([409]),
        Endpoint::new(DELETE, "/jobs/{id}", Policy(Edit, Job), jobs::delete)
            .describe("jobs", "deleteJob", "Delete a job; its runs stay, and those not sent yet are cancelled")
            .answers_nothing(),
    ]
}

fn of_one_job() -> Vec<Endpoint> {
    vec![
        Endpoint::json(POST, "/jobs/{id}/enable", Policy(Operate, Job), jobs::enable)
            .describe(
                "jobs",
                "enableJob",
                "Start its schedule now; after a pause by the engine it continues where it stopped",
            )
            .fails([409]),
        Endpoint::json(POST, "/jobs/{id}/disable", Policy(Operate, Job), jobs::disable)
            .describe("jobs", "disableJob", "Stop its schedule; its runs that were not sent yet are cancelled")
            .optional_body::<jobs::PauseRequest>(),
        Endpoint::json(POST, "/jobs/{id}/run", Policy(Operate, Job), jobs::run)
            .describe("jobs", "runJob", "Run a job now, enabled or not")
            .takes_key()
            .optional_body::<jobs::RunRequest>(),
        Endpoint::json(GET, "/jobs/{id}/next", Policy(View, Job), jobs::next)
            .describe("jobs", "nextInstants", "The next instants of its schedule, enabled or not")
            .query("count", "How many", number(jobs::NEXT_INSTANTS, jobs::MAX_INSTANTS))
            .query("from", "Instants after this; now if left out", time())
            .fails([409]),
        Endpoint::json(GET, "/jobs/{id}/explain", Policy(View, Job), jobs::explain)
            .describe(
                "jobs",
                "explainInstant",
                "What became of one instant, or why there is no such instant or no run of it",
            )
            .required_query("at", "The instant, with any offset", time()),
        Endpoint::json(GET, "/jobs/{id}/history", Policy(View, Job), jobs::history)
            .describe(
                "jobs",
                "listRevisions",
                "The definitions that a job has had, newest first, each with what it changed",
            )
            .page(id()),
        Endpoint::json(POST, "/jobs/{id}/history/{revision}/restore", Policy(Edit, Job), jobs::restore)
            .describe(
                "jobs",
                "restoreRevision",
                "Give a job a definition that it has had, as a new revision; whether its schedule fires stays as it is",
            )
            .query("expected", "The revision that was read: another one by now is refused", id())
            .fails([409]),
        Endpoint::json(GET, "/jobs/{id}/days", Policy(View, Job), retention::days)
            .describe("jobs", "countDays", "Counts of deleted runs, by day and outcome")
            .query("from", "From the day of this time; a year ago if left out", time())
            .query("to", "Up to the day of this time; today if left out", time()),
    ]
}

fn of_backfills() -> Vec<Endpoint> {
    vec![
        Endpoint::new(POST, "/jobs/{id}/backfill", Policy(Operate, Job), backfills::create)
            .describe(
                "backfills",
                "backfillJob",
                "Run a job for the instants of its schedule in a range of the past, each at most once even if ranges overlap; \
                 `dry_run` only lists them",
            )
            .body::<backfills::BackfillRequest>()
            .answers::<BackfillInstants>(200)
            .answers::<BackfillView>(202),
        Endpoint::json(GET, "/jobs/{id}/backfills", Policy(View, Job), backfills::list)
            .describe("backfills", "listBackfills", "Backfills of a job, newest first")
            .page(id()),
        Endpoint::json(GET, "/backfills/{id}", Policy(View, Backfill), backfills::get)
            .describe("backfills", "getBackfill", "A backfill"),
        Endpoint::json(POST, "/backfills/{id}/cancel", Policy(Operate, Backfill), backfills::cancel)
            .describe("backfills", "cancelBackfill", "Create no further runs; the existing ones stay"),
    ]
}

fn of_runs() -> Vec<Endpoint> {
    let states = ArrayBuilder::new().items(Ref::from_schema_name("RunState"));
    vec![
        Endpoint::json(GET, "/runs", Policy(View, AnyApp), runs::list)
            .describe("runs", "listRuns", "Runs, newest first unless `sort` names another order")
            .query("job_id", "Of this job", id())
            .query("app", "Of this app", text())
            .query("owner", "Of jobs with this owner", text())
            .query("tag", "Of jobs with this tag", text())
            .query("text", "Part of the job's name or of the result, or the whole id", text())
            .query("state", "In any of these states: repeated, or separated by commas", states)
            .query("cause", "With this cause", Ref::from_schema_name("Cause"))
            .query("from", "`scheduled_at` at or after this", time())
            .query("to", "`scheduled_at` before this", time())
            .query(
                "sort",
                "`time`: by `scheduled_at`, the latest first; `duration`: the longest first. Both sort the newest 50,000 runs, and \
                 `after` is the number of runs before the page",
                text().enum_values(Some(RunSort::WORDS)),
            )
            .page(id()),
        Endpoint::json(POST, "/runs/bulk", Policy(Operate, AnyApp), runs::bulk)
            .describe(
                "runs",
                "changeRuns",
                "Do one thing with many runs, each if the caller may; the answer names those that were refused",
            )
            .takes_key()
            .body::<runs::RunBulk>()
            .fails([409]),
        Endpoint::json(GET, "/runs/{id}", Policy(View, Run), runs::get).describe("runs", "getRun", "A run"),
        Endpoint::json(POST, "/runs/{id}/kill", Policy(Operate, Run), runs::kill)
            .describe("runs", "killRun", "Ask for the end of a run")
            .fails([502]),
        Endpoint::json(POST, "/runs/{id}/resolve", Policy(Operate, Run), runs::resolve)
            .describe(
                "runs",
                "resolveRun",
                "Report the outcome of a run that is `unknown` or `lost`: it counts as evidence, starts the children of a \
                 success, and cancels a retry that was not sent",
            )
            .body::<runs::Resolution>()
            .fails([409]),
        Endpoint::json(GET, "/runs/{id}/log", Policy(View, Run), runs::log)
            .describe("runs", "readLog", "Lines of a run's log, from its executor")
            .query("from", "The first line wanted", integer(1, None).default(Some(1.into())))
            .fails([502]),
    ]
}

fn of_audit() -> Vec<Endpoint> {
    let export = Endpoint::new(GET, "/audit/export", Policy(Administer, AnyApp), audit::export).describe(
        "audit",
        "exportAudit",
        "Up to 100000 entries of the audit, newest first, as JSON lines or CSV; `after` with the last `key` goes on",
    );
    let mut export = filters_of_audit(export).query("format", "`jsonl`, the default, or `csv`", text()).query(
        "after",
        "Behind the entry with this `key`",
        text(),
    );
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
            .query("days", "UTC days up to and including today", number(reports::DAYS, reports::MAX_DAYS))
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

fn id() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn flag() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean)
}

fn time() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
    Time::schema()
}
