//! Jobs.

use std::collections::HashSet;

use carillon_scheduler::job::limits::PARTS;
use carillon_scheduler::workflow::WorkflowDraft;
use carillon_scheduler::{HttpDraft, JobDraft, ScriptDraft};
use carillon_store::{Job, JobPause};
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, OneOfBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::http::HttpRequest;
use super::schedule::{RetryDelay, Schedule};
use super::time::Time;
use super::view_macro::view;
use super::words;
use super::workflow::Workflow;

view! {
    /// A job
    pub struct JobView as Job from job: Job {
        /// Below 2^31
        #[schema(minimum = 1)]
        id: i64,
        /// Without its source; null: the job has a handler
        #[schema(value_type = Option<Script>)]
        script: Option<ScriptDraft> = job.draft.script.clone(),
        /// Null: it is no workflow
        #[schema(value_type = Option<Workflow>)]
        workflow: Option<WorkflowDraft> = job.draft.workflow.clone(),
        /// Null: it sends no request
        #[schema(value_type = Option<HttpRequest>)]
        http: Option<HttpDraft> = job.draft.http.clone(),
        /// 1: each fire is one run
        #[schema(value_type = Parts)]
        parts: carillon_scheduler::Parts = job.draft.parts.clone(),
        #[serde(flatten)]
        #[schema(value_type = JobRequest)]
        draft: JobDraft = without_own_members(&job),
        /// The next instant at which it fires: that of a run that is planned and not due yet, or else the first one that is not
        /// planned. Null: it is paused or never fires again
        next_fire_at: Option<Time>,
        /// Why the engine has paused it
        paused_reason: Option<String>,
        /// Null: it is enabled, or nothing was noted when it was paused
        pause: Option<JobPauseView> = job.pause.map(JobPauseView::from),
        /// Runs that are left of `max_fires`; null: no limit
        #[schema(minimum = 0)]
        fires_left: Option<i32>,
        /// Grows with each change
        revision: i64,
        /// When it was created
        created_at: Time,
        /// When it was changed last
        updated_at: Time,
    }
}

/// The draft without what an answer has beside it.
fn without_own_members(job: &Job) -> JobDraft {
    let parts = carillon_scheduler::Parts::default();
    JobDraft { schedule: job.full_schedule(), script: None, workflow: None, http: None, parts, ..job.draft.clone() }
}

view! {
    /// Why a job is paused, as far as it was noted
    pub struct JobPauseView as JobPause from pause: JobPause {
        /// Why; empty: nothing was noted
        note: String,
        /// Who paused it; `carillon`: the server, after failures in a row
        author: String,
        /// Since when
        from: Time = Time(pause.paused_at),
        /// When it is resumed; null: the job stays paused until a person resumes it
        until: Option<Time> = pause.ends_at.map(Time),
    }
}

/// A new job
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct JobRequest {
    #[serde(flatten)]
    identity: JobIdentity,
    #[serde(flatten)]
    settings: JobSettings,
}

/// What names a job and what it runs.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct JobIdentity {
    /// Name of the app whose executors run it
    #[schema(min_length = 4, max_length = 64)]
    app: String,
    /// For people; need not be unique
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    /// The name under which the executor knows what to run. Empty: the job has a `script`, a `workflow` or an `http` request
    #[schema(max_length = 255)]
    handler: String,
}

/// What is run in place of a handler. In an answer without its source
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct Script {
    #[serde(rename = "type")]
    kind: words::ScriptType,
    /// At most 262,144 bytes. Left out: the source of `version`, or else the one that the job has
    #[schema(min_length = 1, max_length = 262_144, required = false)]
    source: String,
    /// What is new in it; required if the source changes
    #[schema(max_length = 100, default = "", required = false)]
    remark: String,
    /// Milliseconds. In a request without a source: the version whose source the job gets, as a new version
    #[schema(minimum = 1, required = false)]
    version: i64,
    /// The digest of the source, in hexadecimal digits; ignored in a request
    #[schema(required = false)]
    sha256: String,
    /// The size of the source; ignored in a request
    #[schema(required = false)]
    bytes: i64,
}

/// How a fire is split
pub struct Parts;

impl PartialSchema for Parts {
    fn schema() -> RefOr<Schema> {
        let (least, most) = (*PARTS.start(), *PARTS.end());
        let count = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least)).maximum(Some(most));
        let texts = ArrayBuilder::new().items(ObjectBuilder::new().schema_type(Type::String)).min_items(Some(2));
        let texts = texts.max_items(usize::try_from(most).ok());
        OneOfBuilder::new().description(Some(PARTS_TEXT)).item(count).item(texts).into()
    }
}

impl ToSchema for Parts {}

const PARTS_TEXT: &str = "A number of parts, each with the parameters of the fire (1: each fire is one run); or a part for each text, which is its parameters, at most 65,536 bytes in all";

/// The members that have a default.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct JobSettings {
    #[schema(default = json!(null), required = false)]
    script: Option<Script>,
    #[schema(default = json!(null), required = false)]
    workflow: Option<Workflow>,
    #[schema(default = json!(null), required = false)]
    http: Option<HttpRequest>,
    /// The name by which programs and files know it, unique in its app: lower case letters, digits, `-`, `_` and `.`; empty: it has
    /// none
    #[schema(max_length = 64, default = "", required = false)]
    key: String,
    /// The name of the set of files that defines it, under the rules of `key`; empty: no files do
    #[schema(max_length = 64, default = "", required = false)]
    set: String,
    /// What it is for; up to 1,000 characters
    #[schema(max_length = 1_000, default = "", required = false)]
    description: String,
    /// Who answers for it: a person, a team, an address
    #[schema(max_length = 100, default = "", required = false)]
    owner: String,
    /// Words to find and select it by: lower case letters, digits, `-`, `_` and `.`; kept in the order of the alphabet
    #[schema(max_items = 10, default = json!([]), required = false, examples(json!(["nightly", "tier-1"])))]
    tags: Vec<String>,
    /// Given to the handler; at most 65,536 bytes. `{{scheduled_at}}`, `{{scheduled_at|FORMAT|ZONE}}`, `{{run_id}}`, `{{job_id}}`, `{{attempt}}`, `{{part}}` and `{{parts}}` are replaced when a run is sent
    #[schema(min_length = 0, max_length = 65_536, default = "", required = false)]
    params: String,
    /// Into how many runs each fire is split: a number, or the parameters of each part. Each part goes where the route sends it, and is
    /// retried and killed by itself. Not with the route `broadcast`, and only with the block strategy `serial`
    #[schema(default = 1, required = false)]
    parts: Parts,
    /// Without `params` of its own, a run that a parent starts gets the parent's result as parameters
    #[schema(default = true, required = false)]
    takes_result: bool,
    #[schema(default = json!({"kind": "none"}), required = false)]
    schedule: Schedule,
    /// `best_effort`: one executor fires the job by itself, and its fires are counted and not recorded singly. It then has a handler and a
    /// schedule, and no retries, children, misfire rule, overlap rule, limits or parts
    #[schema(default = "durable", required = false)]
    durability: words::Durability,
    /// Instants late by at most the misfire threshold: all of them run, or only the latest
    #[schema(default = "all", required = false)]
    catch_up: words::CatchUp,
    /// What is done with instants that are later than the misfire threshold: one fire makes up for them (`fire_once`),
    /// none (`skip`), the latest of them run (`fire_all`), or the recent ones (`fire_within`)
    #[schema(default = "fire_once", required = false)]
    misfire: words::MisfirePolicy,
    /// From which delay on an instant is missed
    #[schema(minimum = 1, maximum = 86_400, default = 60, required = false)]
    misfire_threshold_seconds: i64,
    /// `fire_all`: at most this number of missed instants run, the latest
    #[schema(minimum = 1, maximum = 1_000, default = 100, required = false)]
    misfire_limit: i64,
    /// `fire_within`: missed instants run that are at most this old
    #[schema(minimum = 1, maximum = 86_400, default = 3_600, required = false)]
    misfire_window_seconds: i64,
    /// Which executor gets a run
    #[schema(default = "round_robin", required = false)]
    route: words::RouteStrategy,
    /// Only executors with all of these labels get its runs
    #[schema(default = "", examples("zone=eu,gpu=yes"), required = false)]
    route_labels: String,
    /// What the executor does while an earlier run of the job is running
    #[schema(default = "serial", required = false)]
    block: words::BlockStrategy,
    /// What the server does with a run while another fire of the job is sending or running, in the whole cluster
    #[schema(default = "allow", required = false)]
    overlap: words::Overlap,
    /// `overlap` `wait`: at most this number of runs wait, the others are skipped
    #[schema(minimum = 1, maximum = 1_000, default = 10, required = false)]
    overlap_queue: i64,
    /// How many fires of the job may be open at once before `overlap` decides; more than 1 not with `overlap` `allow`
    #[schema(minimum = 1, maximum = 1_000, default = 1, required = false)]
    max_concurrent: i64,
    /// The names of limits that its runs keep, of its app or shared: a run is sent when each of them has a free slot
    #[schema(max_items = 4, default = json!([]), required = false, examples(json!(["db-export"])))]
    limits: Vec<String>,
    /// Where runs wait in a line, for a limit or for an executor with room: this many seconds count as if a run had waited longer
    #[schema(minimum = -3_600, maximum = 3_600, default = 0, required = false)]
    priority: i64,
    /// The executor stops a run after this number of seconds; 0: never
    #[schema(minimum = 0, maximum = 604_800, default = 0, required = false)]
    timeout_seconds: i64,
    /// How often a failed run is tried again
    #[schema(minimum = 0, maximum = 100, default = 0, required = false)]
    retries: i64,
    #[schema(default = json!({"kind": "exponential", "base_seconds": 5, "cap_seconds": 300}), required = false)]
    retry_delay: RetryDelay,
    /// A run that has not been sent this number of seconds after it was due is flagged, with an alarm; 0: as the server is
    /// configured (30 s)
    #[schema(minimum = 0, maximum = 86_400, default = 0, required = false)]
    flag_after_seconds: i64,
    /// Its objective: a run that has not been sent this number of seconds after it was due misses it, with an alarm `late_start`;
    /// 0: none
    #[schema(minimum = 0, maximum = 86_400, default = 0, required = false)]
    start_within_seconds: i64,
    /// The server pauses it after this many fires in a row that failed after their retries; 0: never
    #[schema(minimum = 0, maximum = 1_000, default = 0, required = false)]
    pause_after_failures: i64,
    /// The jobs that run once after each fire of this one that succeeded (a broadcast: when all its parts have), enabled or
    /// not. They get its result as parameters, unless they have their own or `takes_result` is false; a broadcast's as
    /// an array in the order of the parts. A job never runs after itself
    #[schema(minimum = 1, max_items = 100, default = json!([]), required = false)]
    children: HashSet<i64>,
    /// Whether its schedule is in force
    #[schema(default = true, required = false)]
    enabled: bool,
}
