use serde::{Deserialize, Serialize};

use super::block::BlockStrategy;
use super::durability::Durability;
use super::http::HttpDraft;
use super::parts::Parts;
use super::script::ScriptDraft;
use crate::plan::misfire::{CatchUp, DEFAULT_LIMIT, DEFAULT_THRESHOLD_SECONDS, DEFAULT_WINDOW_SECONDS, MisfirePolicy};
use crate::retry::RetryDelay;
use crate::route::RouteStrategy;
use crate::run::overlap::{DEFAULT_QUEUE, Overlap};
use crate::schedule::ScheduleDraft;
use crate::workflow::WorkflowDraft;

/// A job as the API, a form or a file gives it. Only `app`, `name` and one of `handler`, `script`, `workflow` and `http` are required. Unknown members are
/// refused by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a job as an object")]
pub struct JobDraft {
    /// The app whose executors run it.
    pub app: String,
    /// The name for users.
    pub name: String,
    /// The name of the handler in the executor; empty: the job has a script, is a workflow or sends a request.
    #[serde(default)]
    pub handler: String,
    /// What is run in place of a handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptDraft>,
    /// The jobs that it runs in place of a handler, and in which order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowDraft>,
    /// The request that the server sends in place of a handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpDraft>,
    /// The name by which programs and files know it, unique in its app; empty: it has none.
    #[serde(default)]
    pub key: String,
    /// The name of the set of files that defines it; empty: no files do.
    #[serde(default)]
    pub set: String,
    /// What it is for, for users; up to 1,000 characters.
    #[serde(default)]
    pub description: String,
    /// Who answers for it: a person, a team, an address; up to 100 characters.
    #[serde(default)]
    pub owner: String,
    /// Words to find and select it by, at most 10.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Passed to the handler, with its [placeholders](super::placeholders) replaced.
    #[serde(default)]
    pub params: String,
    /// Without parameters of its own, a run that a parent starts gets the parent's result as parameters.
    #[serde(default = "yes")]
    pub takes_result: bool,
    /// Into how many runs each fire is split.
    #[serde(default, skip_serializing_if = "Parts::is_one")]
    pub parts: Parts,
    /// When it fires.
    #[serde(default)]
    pub schedule: ScheduleDraft,
    /// How much of its fires is recorded.
    #[serde(default)]
    pub durability: Durability,
    /// The rule for instants that are late by at most the threshold.
    #[serde(default)]
    pub catch_up: CatchUp,
    /// The rule for instants that are late by more than the threshold.
    #[serde(default)]
    pub misfire: MisfirePolicy,
    /// The lateness above which an instant is a misfire.
    #[serde(default = "default_threshold")]
    pub misfire_threshold_seconds: i64,
    /// How many missed instants `fire_all` runs.
    #[serde(default = "default_limit")]
    pub misfire_limit: i32,
    /// The greatest age of a missed instant that `fire_within` runs.
    #[serde(default = "default_window")]
    pub misfire_window_seconds: i64,
    /// How an executor is chosen.
    #[serde(default)]
    pub route: RouteStrategy,
    /// Only executors with all of these labels get runs: `key=value,key2=value2`; empty: any.
    #[serde(default)]
    pub route_labels: String,
    /// The admin's rule for a run while another fire of the job is open.
    #[serde(default)]
    pub overlap: Overlap,
    /// How many runs may wait under `overlap` `wait`.
    #[serde(default = "default_queue")]
    pub overlap_queue: i32,
    /// How many fires of the job may be open at once; more need a rule other than `allow`.
    #[serde(default = "one")]
    pub max_concurrent: i32,
    /// The names of limits that its runs keep, at most 4: of its app, or shared.
    #[serde(default)]
    pub limits: Vec<String>,
    /// Where runs wait in a line, a run goes before those that have waited for at most this much longer, in seconds.
    #[serde(default)]
    pub priority: i32,
    /// The executor's rule for overlapping runs.
    #[serde(default)]
    pub block: BlockStrategy,
    /// The executor stops a run after this time, in seconds; 0 = never.
    #[serde(default)]
    pub timeout_seconds: i32,
    /// The maximum number of retries of a failed run.
    #[serde(default)]
    pub retries: i32,
    /// The delay before a retry.
    #[serde(default)]
    pub retry_delay: RetryDelay,
    /// The jobs that run once after each successful fire, in this order.
    #[serde(default)]
    pub children: Vec<i64>,
    /// A run that has not been sent this time after it was due is flagged, in seconds; 0 = the server's default.
    #[serde(default)]
    pub flag_after_seconds: i32,
    /// A run that has not been sent this time after it was due misses the objective of its job, with an alarm, in seconds; 0 = none.
    #[serde(default)]
    pub start_within_seconds: i32,
    /// The engine pauses it after this many fires in a row that failed after their retries; 0 = never.
    #[serde(default)]
    pub pause_after_failures: i32,
    /// Whether its schedule fires.
    #[serde(default = "yes")]
    pub enabled: bool,
}

impl JobDraft {
    /// A job without a schedule and with every default.
    pub fn new(app: impl Into<String>, name: impl Into<String>, handler: impl Into<String>) -> Self {
        Self {
            app: app.into(),
            name: name.into(),
            handler: handler.into(),
            script: None,
            workflow: None,
            http: None,
            key: String::new(),
            set: String::new(),
            description: String::new(),
            owner: String::new(),
            tags: vec![],
            params: String::new(),
            takes_result: true,
            parts: Parts::default(),
            schedule: ScheduleDraft::none(),
            durability: Durability::default(),
            catch_up: CatchUp::default(),
            misfire: MisfirePolicy::default(),
            misfire_threshold_seconds: DEFAULT_THRESHOLD_SECONDS,
            misfire_limit: DEFAULT_LIMIT,
            misfire_window_seconds: DEFAULT_WINDOW_SECONDS,
            route: RouteStrategy::default(),
            route_labels: String::new(),
            overlap: Overlap::default(),
            overlap_queue: DEFAULT_QUEUE,
            max_concurrent: 1,
            limits: vec![],
            priority: 0,
            block: BlockStrategy::default(),
            timeout_seconds: 0,
            retries: 0,
            retry_delay: RetryDelay::default(),
            children: vec![],
            flag_after_seconds: 0,
            start_within_seconds: 0,
            pause_after_failures: 0,
            enabled: true,
        }
    }
}

const fn default_threshold() -> i64 {
    DEFAULT_THRESHOLD_SECONDS
}

const fn default_limit() -> i32 {
    DEFAULT_LIMIT
}

const fn default_window() -> i64 {
    DEFAULT_WINDOW_SECONDS
}

const fn default_queue() -> i32 {
    DEFAULT_QUEUE
}

const fn yes() -> bool {
    true
}

const fn one() -> i32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(json: Value) -> Result<JobDraft, String> {
        serde_path_to_error::deserialize(json).map_err(|error| error.to_string())
    }

    #[test]
    fn three_members_are_enough() {
        let draft = read(json!({"app": "billing", "name": "Close the day", "handler": "closeDay"})).unwrap();
        assert_eq!(draft, JobDraft::new("billing", "Close the day", "closeDay"));
        let json = serde_json::to_value(&draft).unwrap();
        assert_eq!(json["misfire_threshold_seconds"], 60);
        assert_eq!((&json["route"], &json["enabled"]), (&json!("round_robin"), &json!(true)));
        assert_eq!(read(json), Ok(draft));
    }

    #[test]
    fn errors_name_their_member() {
        let with = |name: &str, value: Value| {
            let mut job = json!({"app": "billing", "name": "n", "handler": "h"});
            job[name] = value;
            read(job).unwrap_err()
        };
        assert_eq!(
            with("route", json!("least")),
            "route: `least` is not a route; allowed: round_robin, first, random, broadcast, last, consistent_hash, least_frequently_used, least_recently_used, failover, busy_over, weighted, least_active, sticky, label"
        );
        assert_eq!(with("retries", json!("3")), "retries: invalid type: string \"3\", expected i32");
        assert_eq!(
            with("timeout_seconds", json!(5_000_000_000_i64)),
            "timeout_seconds: invalid value: integer `5000000000`, expected i32"
        );
        assert_eq!(with("app", json!(null)), "app: invalid type: null, expected a string");
        assert_eq!(
            with("retry_delay", json!({"kind": "exponential", "base": 5})),
            "retry_delay: unknown field `base`, expected `base_seconds` or `cap_seconds`"
        );
        assert!(
            with("retry_delay", json!("5")).starts_with("retry_delay: invalid type"),
            "{}",
            with("retry_delay", json!("5"))
        );
        assert!(with("children", json!([1, "x"])).starts_with("children[1]: invalid type"));
        assert!(
            with("shedule", json!({})).starts_with("shedule: unknown field `shedule`, expected one of `app`, `name`")
        );
        assert_eq!(read(json!({"app": "billing", "handler": "h"})).unwrap_err(), "missing field `name`");
    }
}
