//! The paths of runs.

use actix_web::http::Method;
use carillon_accounts::policy::Action::{Operate, View};
use carillon_store::RunSort;
use utoipa::openapi::{ArrayBuilder, Ref};

use crate::web::access::Access::Policy;
use crate::web::access::Target::{AnyApp, Run};
use crate::web::api::endpoint::Endpoint;
use crate::web::api::extract::parameter::{id, integer, text, time};

const GET: Method = Method::GET;
const POST: Method = Method::POST;

pub fn routes() -> Vec<Endpoint> {
    let states = ArrayBuilder::new().items(Ref::from_schema_name("RunState"));
    vec![
        Endpoint::json(GET, "/runs", Policy(View, AnyApp), super::list)
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
                "`time`: by `scheduled_at`, the latest first; `duration`: the longest first; `lateness`: the most late first. \
                 They sort the newest 50,000 runs, and `after` is the number of runs before the page",
                text().enum_values(Some(RunSort::WORDS)),
            )
            .page(id()),
        Endpoint::json(POST, "/runs/bulk", Policy(Operate, AnyApp), super::bulk)
            .describe(
                "runs",
                "changeRuns",
                "Do one thing with many runs, each if the caller may; the answer names those that were refused",
            )
            .takes_key()
            .body::<super::RunBulk>()
            .fails([409]),
        Endpoint::json(GET, "/runs/{id}", Policy(View, Run), super::get).describe("runs", "getRun", "A run"),
        Endpoint::json(POST, "/runs/{id}/kill", Policy(Operate, Run), super::kill)
            .describe("runs", "killRun", "Ask for the end of a run")
            .fails([502]),
        Endpoint::json(POST, "/runs/{id}/resolve", Policy(Operate, Run), super::resolve)
            .describe(
                "runs",
                "resolveRun",
                "Report the outcome of a run that is `unknown` or `lost`: it counts as evidence, starts the children of a \
                 success, and cancels a retry that was not sent",
            )
            .body::<super::Resolution>()
            .fails([409]),
        Endpoint::json(GET, "/runs/{id}/log", Policy(View, Run), super::log)
            .describe("runs", "readLog", "Lines of a run's log, from its executor")
            .query("from", "The first line wanted", integer(1, None).default(Some(1.into())))
            .fails([502]),
    ]
}
