//! The files of an export.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use carillon_scheduler::workflow::WorkflowDraft;
use carillon_scheduler::{ClockChanges, HttpDraft, JobDraft, LimitDraft, Parts, Weekday};
use serde_json::{Map, Value, json};

use crate::document::{JobRef, LimitRef, REDACTED, limit_without_defaults};
use crate::live::{Live, LiveApp, LiveJob};
use crate::yaml::write;

/// What is written.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// The name of the set. None: that of the jobs, or else `main`.
    pub set: Option<String>,
    /// Only jobs of these apps; empty: of all.
    pub apps: Vec<String>,
    /// Only jobs of this set.
    pub only_set: Option<String>,
    /// Parameters may hold secrets: `<redacted>` stands for them.
    pub redacts_params: bool,
    /// What is left of `max_fires` instead of it, for an installation that has not run these jobs.
    pub for_another_server: bool,
}

impl ExportOptions {
    pub fn includes(&self, job: &LiveJob) -> bool {
        (self.apps.is_empty() || self.apps.contains(&job.draft.app))
            && self.only_set.as_ref().is_none_or(|set| *set == job.draft.set)
    }
}

/// The file of one app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    pub app: String,
    pub text: String,
}

/// Why a job cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    NoKey {
        id: i64,
        app: String,
        name: String,
    },
    /// The token may not read its script.
    Script(String),
    /// The job of a node has no key, or the token does not see it.
    Node {
        workflow: String,
        job: i64,
    },
    /// A child has no key, or the token does not see it.
    Child {
        parent: String,
        child: i64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey { id, app, name } => write!(f, "job {id} of app {app} has no key: {name}"),
            Self::Script(job) => write!(f, "{job} has a script, which this token may not read"),
            Self::Node { workflow, job } => {
                write!(f, "{workflow} runs the job {job}, which has no key or is not visible to this token")
            }
            Self::Child { parent, child } => {
                write!(f, "{parent} has the child {child}, which has no key or is not visible to this token")
            }
        }
    }
}

/// A file for each app that has jobs.
///
/// # Errors
/// All jobs that cannot be named, and those whose script cannot be read.
pub fn export(live: &Live, options: &ExportOptions) -> Result<Vec<ExportedFile>, Vec<Problem>> {
    let jobs: Vec<&LiveJob> = live.jobs().filter(|job| options.includes(job)).collect();
    let set = set_name(&jobs, options);
    let mut problems = vec![];
    let mut by_app: BTreeMap<&str, BTreeMap<&str, Value>> = BTreeMap::new();
    for job in jobs {
        match job_members(live, job, options) {
            Ok(members) => {
                by_app.entry(&job.draft.app).or_default().insert(&job.draft.key, members.into());
            }
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let file = |(app, jobs): (&str, BTreeMap<&str, Value>)| ExportedFile {
        app: app.to_owned(),
        text: text(&set, app, live.app(app), limits(live, app, options), jobs.into_values().collect()),
    };
    Ok(by_app.into_iter().map(file).collect())
}

/// A file with these jobs of one app, which have keys and no children.
pub fn write_jobs(set: &str, app: &str, jobs: &[JobDraft]) -> String {
    let members = |draft: &JobDraft| without_defaults(&JobDraft { set: String::new(), ..draft.clone() }).into();
    text(set, app, None, vec![], jobs.iter().map(members).collect())
}

fn set_name(jobs: &[&LiveJob], options: &ExportOptions) -> String {
    let of_jobs = || {
        let first = &jobs.first()?.draft.set;
        jobs.iter().all(|job| job.draft.set == *first && !first.is_empty()).then(|| first.clone())
    };
    options.set.clone().or_else(of_jobs).unwrap_or_else(|| "main".to_owned())
}

fn text(set: &str, name: &str, app: Option<&LiveApp>, limits: Vec<Value>, jobs: Vec<Value>) -> String {
    let mut entry = json!({"name": name});
    if let Some(app) = app.filter(|app| !app.title.is_empty()) {
        entry["title"] = app.title.as_str().into();
    }
    let limits = (!limits.is_empty()).then_some(("limits", Value::Array(limits)));
    let head = [("format", json!(1)), ("set", json!(set)), ("apps", json!([entry]))];
    let parts = head.into_iter().chain(limits).chain([("jobs", Value::Array(jobs))]);
    let part = |(name, value): (&str, Value)| write(&Map::from_iter([(name.to_owned(), value)]));
    let body: String = parts.map(part).collect();
    format!("# yaml-language-server: $schema=carillon.schema.json\n{body}")
}

/// The limits of the app, and the shared ones that its jobs name, by name.
fn limits(live: &Live, app: &str, options: &ExportOptions) -> Vec<Value> {
    let jobs = live.jobs().filter(|job| job.draft.app == app && options.includes(job));
    let named: BTreeSet<&String> = jobs.flat_map(|job| &job.draft.limits).collect();
    let of_app = |name: &str| live.limit(&LimitRef { app: Some(app.to_owned()), name: name.to_owned() });
    let is_written = |limit: &LimitDraft| match &limit.app {
        Some(owner) => owner == app,
        None => named.contains(&limit.name) && of_app(&limit.name).is_none(),
    };
    let written = live.limits.iter().map(|limit| &limit.draft).filter(|limit| is_written(limit));
    let by_name: BTreeMap<&str, Value> =
        written.map(|limit| (limit.name.as_str(), limit_without_defaults(limit).into())).collect();
    by_name.into_values().collect()
}

fn job_members(live: &Live, job: &LiveJob, options: &ExportOptions) -> Result<Map<String, Value>, Vec<Problem>> {
    let JobDraft { app, name, .. } = &job.draft;
    let Some(reference) = job.reference() else {
        return Err(vec![Problem::NoKey { id: job.id, app: app.clone(), name: name.clone() }]);
    };
    if job.draft.script.as_ref().is_some_and(|script| script.source.is_none()) {
        return Err(vec![Problem::Script(reference.to_string())]);
    }
    let mut draft = JobDraft { set: String::new(), children: vec![], ..job.draft.clone() };
    if options.redacts_params && !draft.params.is_empty() {
        draft.params = REDACTED.to_owned();
    }
    let graph = graph(live, job, &reference, options);
    let mut problems = graph.as_ref().err().cloned().unwrap_or_default();
    draft.workflow = graph.unwrap_or_default();
    if let Parts::Each(texts) = &mut draft.parts
        && options.redacts_params
    {
        texts.fill(REDACTED.to_owned());
    }
    if let Some(request) = draft.http.as_mut().filter(|_| options.redacts_params) {
        redact(request);
    }
    if options.for_another_server
        && let Some(left) = job.fires_left
    {
        // A schedule needs one fire at least: an exhausted one is written as paused.
        draft.schedule.max_fires = Some(left.max(1));
        draft.enabled &= left > 0;
    }
    let mut members = without_defaults(&draft);
    if let Some(Value::Object(script)) = members.get_mut("script") {
        // The server's own.
        script.retain(|name, _| matches!(name.as_str(), "type" | "source" | "remark"));
    }
    match children(live, job, &reference) {
        Ok(children) if children.is_empty() => {}
        Ok(children) => _ = members.insert("children".to_owned(), children.into()),
        Err(found) => problems.extend(found),
    }
    if problems.is_empty() { Ok(members) } else { Err(problems) }
}

/// The texts of a request may hold secrets as parameters may. Where it goes to is left.
fn redact(request: &mut HttpDraft) {
    let url = request.origin().map(|origin| format!("{origin}/{REDACTED}"));
    request.url = url.unwrap_or_else(|| REDACTED.to_owned());
    request.headers.values_mut().for_each(|value| *value = REDACTED.to_owned());
    if !request.body.is_empty() {
        request.body = REDACTED.to_owned();
    }
}

/// The graph with keys: `key` of a job of the same app, `app/key` of another one.
fn graph(
    live: &Live,
    job: &LiveJob,
    own: &JobRef,
    options: &ExportOptions,
) -> Result<Option<WorkflowDraft>, Vec<Problem>> {
    let Some(graph) = &job.draft.workflow else { return Ok(None) };
    let (mut graph, unnamed) = live.with_keys(graph, |job| key_in(&own.app, job));
    if !unnamed.is_empty() {
        return Err(unnamed.into_iter().map(|job| Problem::Node { workflow: own.to_string(), job }).collect());
    }
    let templates = graph.nodes.iter_mut().map(|(_, node)| &mut node.params).chain([&mut graph.output]);
    for text in templates.flatten().filter(|text| options.redacts_params && !text.is_empty()) {
        *text = REDACTED.to_owned();
    }
    Ok(Some(graph))
}

fn key_in(app: &str, job: JobRef) -> String {
    if job.app == app { job.key } else { job.to_string() }
}

fn children(live: &Live, job: &LiveJob, parent: &JobRef) -> Result<Vec<String>, Vec<Problem>> {
    let (mut keys, mut problems) = (vec![], vec![]);
    for id in &job.draft.children {
        match live.by_id(*id).and_then(LiveJob::reference) {
            Some(child) => keys.push(key_in(&parent.app, child)),
            None => problems.push(Problem::Child { parent: parent.to_string(), child: *id }),
        }
    }
    if problems.is_empty() { Ok(keys) } else { Err(problems) }
}

/// The members of a job that are not what the server would choose by itself.
pub(crate) fn without_defaults(draft: &JobDraft) -> Map<String, Value> {
    let members = |draft: &JobDraft| match json!(draft) {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let default = members(&JobDraft::new("", "", ""));
    let mut members = members(draft);
    members.retain(|name, value| default.get(name) != Some(value));
    if let Some(Value::Object(schedule)) = members.get_mut("schedule") {
        let (clock_changes, weekdays) = (ClockChanges::default(), Weekday::ALL);
        let default = json!({"timezone": "UTC", "clock_changes": clock_changes, "weekdays": weekdays});
        schedule.retain(|name, value| default.get(name) != Some(value));
    }
    members
}
