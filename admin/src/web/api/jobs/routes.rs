//! The paths of jobs and their backfills.

use actix_web::http::Method;
use carillon_accounts::policy::Action::{Edit, Operate, View};
use carillon_store::JobSort;
use utoipa::PartialSchema;
use utoipa::openapi::{ArrayBuilder, Ref};

use crate::web::access::Access::Policy;
use crate::web::access::Target::{AnyApp, Backfill, Job};
use crate::web::api::endpoint::Endpoint;
use crate::web::api::extract::parameter::{flag, id, number, text, time};
use crate::web::api::view::{BackfillInstants, BackfillView, JobView, List, words};
use crate::web::api::{backfills, retention};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const DELETE: Method = Method::DELETE;

pub fn routes() -> Vec<Endpoint> {
    [of_all(), of_one(), of_backfills()].into_iter().flatten().collect()
}

fn of_all() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/jobs", Policy(View, AnyApp), super::list)
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
        Endpoint::new(POST, "/jobs", Policy(Edit, AnyApp), super::create)
            .describe("jobs", "createJob", "Create a job")
            .takes_key()
            .body::<super::JobRequest>()
            .answers::<JobView>(201)
            .fails([409]),
        Endpoint::new(POST, "/jobs:batch", Policy(Edit, AnyApp), super::create_batch)
            .describe("jobs", "createJobs", "Create up to 1000 jobs, all or none; the answer has their order")
            .takes_key()
            .body::<super::JobBatch>()
            .answers::<List<JobView, i64>>(201)
            .fails([409]),
        Endpoint::json(POST, "/jobs/bulk", Policy(Operate, AnyApp), super::bulk)
            .describe(
                "jobs",
                "changeJobs",
                "Do one thing with many jobs, each if the caller may; the answer names those that were refused",
            )
            .takes_key()
            .body::<super::JobBulk>()
            .fails([409]),
        Endpoint::json(GET, "/jobs/{id}", Policy(View, Job), super::get).describe("jobs", "getJob", "A job"),
        Endpoint::json(PUT, "/jobs/{id}", Policy(Edit, Job), super::update)
            .describe(
                "jobs",
                "updateJob",
                "Give a job another definition, in force at once: runs that are not yet due are replaced",
            )
            .body::<super::JobUpdate>()
            .fails([409]),
        Endpoint::new(DELETE, "/jobs/{id}", Policy(Edit, Job), super::delete)
            .describe("jobs", "deleteJob", "Delete a job; its runs stay, and those not sent yet are cancelled. Jobs that have it as a child get a new revision without it")
            .answers_nothing(),
    ]
}

fn of_one() -> Vec<Endpoint> {
    vec![
        Endpoint::json(POST, "/jobs/{id}/enable", Policy(Operate, Job), super::enable)
            .describe(
                "jobs",
                "enableJob",
                "Start its schedule now; after a pause by the engine it continues where it stopped",
            )
            .fails([409]),
        Endpoint::json(POST, "/jobs/{id}/disable", Policy(Operate, Job), super::disable)
            .describe("jobs", "disableJob", "Stop its schedule; its runs that were not sent yet are cancelled")
            .optional_body::<super::PauseRequest>(),
        Endpoint::json(POST, "/jobs/{id}/run", Policy(Operate, Job), super::run)
            .describe("jobs", "runJob", "Run a job now, enabled or not")
            .takes_key()
            .optional_body::<super::RunRequest>(),
        Endpoint::json(GET, "/jobs/{id}/next", Policy(View, Job), super::next)
            .describe("jobs", "nextInstants", "The next instants of its schedule, enabled or not")
            .query("count", "How many", number(super::NEXT_INSTANTS, super::MAX_INSTANTS))
            .query("from", "Instants after this; now if left out", time())
            .fails([409]),
        Endpoint::json(GET, "/jobs/{id}/explain", Policy(View, Job), super::explain)
            .describe(
                "jobs",
                "explainInstant",
                "What became of one instant, or why there is no such instant or no run of it",
            )
            .required_query("at", "The instant, with any offset", time()),
        Endpoint::json(GET, "/jobs/{id}/history", Policy(View, Job), super::history)
            .describe(
                "jobs",
                "listRevisions",
                "The definitions that a job has had, newest first, each with what it changed",
            )
            .page(id()),
        Endpoint::json(POST, "/jobs/{id}/history/{revision}/restore", Policy(Edit, Job), super::restore)
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
