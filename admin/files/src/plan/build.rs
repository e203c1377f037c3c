//! From files and server to a plan.

use std::collections::BTreeSet;

use carillon_scheduler::{JobDraft, ScriptDraft};
use serde_json::{Map, Value, json};

use super::change::{AppChange, Change, JobChange, LimitChange, Plan};
use super::diff::{Difference, difference};
use super::started;
use crate::document::{AppEntry, Fault, FileSet, JobEntry, JobRef};
use crate::live::{Live, LiveJob};

/// What a plan may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Take over jobs of other sets and of none.
    pub adopts: bool,
    /// Delete jobs of the set that the files do not have.
    pub prunes: bool,
}

/// What has to change.
///
/// # Errors
/// All jobs of other owners, unknown children and jobs of nodes, circles and keys that cannot be moved.
pub fn build(set: &FileSet, live: &Live, options: Options) -> Result<Plan, Vec<Fault>> {
    let mut builder = Builder { set, live, options, plan: Plan::default(), faults: vec![], kept: BTreeSet::new() };
    builder.apps();
    builder.limits();
    for entry in &set.jobs {
        builder.job(entry);
    }
    builder.left_over();
    builder.faults.extend(started::faults(set, live, &builder.plan.deletes));
    if !builder.faults.is_empty() {
        return Err(builder.faults);
    }
    let mut plan = builder.plan;
    // A job that gives another one away comes first: that one may then start it.
    plan.updates.sort_by_key(|job| !started::gives_away(live, job));
    Ok(plan)
}

struct Builder<'a> {
    set: &'a FileSet,
    live: &'a Live,
    options: Options,
    plan: Plan,
    faults: Vec<Fault>,
    /// Ids of jobs that the files have.
    kept: BTreeSet<i64>,
}

impl<'a> Builder<'a> {
    fn apps(&mut self) {
        for AppEntry { name, title } in &self.set.apps {
            let app = self.live.app(name);
            let is_same = app.is_some_and(|app| title.as_ref().is_none_or(|title| app.title == *title));
            if !is_same {
                let id = app.map(|app| app.id);
                self.plan.apps.push(AppChange { id, name: name.clone(), title: title.clone() });
            }
        }
        let known: BTreeSet<&String> = self.set.apps.iter().map(|app| &app.name).collect();
        for entry in &self.set.jobs {
            let app = &entry.draft.app;
            if !known.contains(app) && self.live.app(app).is_none() {
                self.faults.push(entry.fault("app", "there is no such app; add it to apps, or correct the name"));
            }
        }
    }

    fn limits(&mut self) {
        for entry in &self.set.limits {
            if let Some(app) = &entry.draft.app
                && self.set.apps.iter().all(|it| it.name != *app)
                && self.live.app(app).is_none()
            {
                self.faults.push(entry.fault("app", "there is no such app; add it to apps, or correct the name"));
                continue;
            }
            let live = self.live.limit(&entry.reference());
            let members = |draft| match json!(draft) {
                Value::Object(members) => members,
                _ => Map::new(),
            };
            let differences = match live {
                Some(live) => difference(&members(&live.draft), &members(&entry.draft)),
                None => vec![],
            };
            if live.is_none() || !differences.is_empty() {
                let before = live.map(|live| (live.id, live.version));
                self.plan.limits.push(LimitChange { before, differences, entry: entry.clone() });
            }
        }
    }

    fn job(&mut self, entry: &'a JobEntry) {
        let Some(live) = self.live_job(entry) else {
            return self.plan.creates.push(change(Change::Create, entry, None, vec![]));
        };
        self.kept.insert(live.id);
        self.refuse_foreign(entry, live);
        let entry = completed(entry, live);
        let (before, after) = (live_members(self.live, live), members(&entry.draft, &entry.children));
        let differences = difference(&before, &after);
        if !live.draft.enabled && !entry.says_enabled {
            let note =
                live.pause.as_ref().map(|pause| format!("by {} since {}: {}", pause.author, pause.from, pause.note));
            self.plan.paused.push((entry.reference(), note.unwrap_or_default()));
        }
        match differences.is_empty() {
            true => self.plan.unchanged += 1,
            false => self.plan.updates.push(change(Change::Update, &entry, Some(live), differences)),
        }
    }

    /// The job with its key, or with the key that it had before.
    fn live_job(&mut self, entry: &JobEntry) -> Option<&'a LiveJob> {
        let reference = entry.reference();
        let live = self.live.by_reference(&reference);
        let Some(from) = &entry.moved_from else { return live };
        let before = self.live.by_reference(&JobRef::within(from, &reference.app));
        match (live, before) {
            (Some(_), Some(before)) if before.draft.set == self.set.name => {
                let message = format!("there are both a job {from} and a job {}; delete one of them", reference.key);
                self.faults.push(entry.fault("moved", message));
                live
            }
            (live, before) => live.or(before),
        }
    }

    fn refuse_foreign(&mut self, entry: &JobEntry, live: &LiveJob) {
        if live.draft.set == self.set.name || self.options.adopts {
            return;
        }
        let owner = match &live.draft.set[..] {
            "" => "belongs to no set of files".to_owned(),
            other => format!("belongs to the set {other}"),
        };
        self.faults.push(entry.fault("", format!("job {} {owner}; --adopt takes it over", live.id)));
    }

    /// Jobs of the set that the files do not have.
    fn left_over(&mut self) {
        for job in self.live.jobs().filter(|job| job.draft.set == self.set.name) {
            self.plan.owned += 1;
            let reference = job.reference().unwrap_or_else(|| JobRef::new(&job.draft.app, format!("job {}", job.id)));
            match (self.kept.contains(&job.id), self.options.prunes) {
                (true, _) => {}
                (false, false) => self.plan.left_over.push(reference),
                (false, true) => self.plan.deletes.push(JobChange {
                    change: Change::Delete,
                    reference,
                    name: job.draft.name.clone(),
                    before: Some((job.id, job.revision)),
                    body: None,
                    children: vec![],
                    differences: vec![],
                    instants: None,
                    entry: None,
                }),
            }
        }
        self.plan.deletes = started::starters_first(self.live, std::mem::take(&mut self.plan.deletes));
    }
}

/// With what the server keeps where the file says nothing.
fn completed(entry: &JobEntry, live: &LiveJob) -> JobEntry {
    let mut entry = entry.clone();
    if !entry.says_enabled {
        entry.draft.enabled = live.draft.enabled;
    }
    let (own, there) = (&mut entry.draft.schedule, &live.draft.schedule);
    let is_same_rate = own.kind.is_rate() && own.kind == there.kind;
    if own.anchor_at.is_none() && is_same_rate {
        own.anchor_at = there.anchor_at;
    }
    let is_same_spread = own.spread_seconds == there.spread_seconds
        && std::mem::discriminant(&own.kind) == std::mem::discriminant(&there.kind);
    if own.spread_offset_seconds.is_none() && is_same_spread {
        own.spread_offset_seconds = there.spread_offset_seconds;
    }
    entry
}

fn change(change: Change, entry: &JobEntry, live: Option<&LiveJob>, differences: Vec<Difference>) -> JobChange {
    JobChange {
        change,
        reference: entry.reference(),
        name: entry.draft.name.clone(),
        before: live.map(|live| (live.id, live.revision)),
        body: Some(entry.body()),
        children: entry.children.clone(),
        differences,
        instants: None,
        entry: Some(entry.clone()),
    }
}

/// The members of a definition with its children as keys.
fn members(draft: &JobDraft, children: &[JobRef]) -> Map<String, Value> {
    // The server tells a script by its digest.
    let script = draft.script.as_ref().map(|script| ScriptDraft {
        sha256: script.source_digest().or(script.sha256.clone()),
        ..ScriptDraft { source: None, remark: String::new(), version: None, bytes: None, ..script.clone() }
    });
    let draft = &JobDraft { script, ..draft.clone() };
    let Ok(Value::Object(mut members)) = serde_json::to_value(draft) else { return Map::new() };
    let children = children.iter().map(|child| Value::from(child.to_string())).collect();
    members.insert("children".to_owned(), children);
    members
}

fn live_members(live: &Live, job: &LiveJob) -> Map<String, Value> {
    // A job without a key is none that a file could name.
    let name =
        |id: &i64| live.by_id(*id).and_then(LiveJob::reference).unwrap_or_else(|| JobRef::new("job", id.to_string()));
    let children: Vec<JobRef> = job.draft.children.iter().map(name).collect();
    let keys = |job: JobRef| job.to_string();
    let workflow = job.draft.workflow.as_ref().map(|workflow| live.with_keys(workflow, keys).0);
    members(&JobDraft { workflow, ..job.draft.clone() }, &children)
}
