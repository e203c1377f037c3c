//! From files and server to a plan.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::{JobDraft, KindDraft, ScriptDraft};
use serde_json::{Map, Value};

use super::change::{AppChange, Change, JobChange, Plan};
use super::diff::{Difference, difference};
use super::order::levels;
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
/// All jobs of other owners, unknown children, circles and keys that cannot be moved.
pub fn build(set: &FileSet, live: &Live, options: Options) -> Result<Plan, Vec<Fault>> {
    let mut builder = Builder { set, live, options, plan: Plan::default(), faults: vec![], kept: BTreeSet::new() };
    builder.apps();
    for entry in &set.jobs {
        builder.job(entry);
    }
    builder.left_over();
    builder.children();
    if !builder.faults.is_empty() {
        return Err(builder.faults);
    }
    let mut plan = builder.plan;
    // A job that gives a child away comes first: another one may get a parent from it.
    plan.updates.sort_by_key(|job| !loses_children(job));
    Ok(plan)
}

fn loses_children(job: &JobChange) -> bool {
    let before = job.differences.iter().find(|difference| difference.member == "children");
    let before = before.and_then(|difference| difference.before.as_array().cloned()).unwrap_or_default();
    let after: BTreeSet<String> = job.children.iter().map(ToString::to_string).collect();
    before.iter().any(|child| child.as_str().is_none_or(|child| !after.contains(child)))
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
        self.plan.deletes = parents_first(self.live, std::mem::take(&mut self.plan.deletes));
    }

    fn children(&mut self) {
        let own: BTreeSet<JobRef> = self.set.jobs.iter().map(JobEntry::reference).collect();
        let deleted: BTreeSet<&JobRef> = self.plan.deletes.iter().map(|job| &job.reference).collect();
        for entry in &self.set.jobs {
            for child in &entry.children {
                let is_there = own.contains(child) || self.live.by_reference(child).is_some();
                if !is_there || deleted.contains(child) {
                    let message = format!("there is no job {child}, neither in the files nor on the server");
                    self.faults.push(entry.fault("children", message));
                }
            }
        }
        let graph: BTreeMap<JobRef, Vec<JobRef>> =
            self.set.jobs.iter().map(|entry| (entry.reference(), entry.children.clone())).collect();
        if let Err(circle) = levels(&graph)
            && let Some(entry) = self.set.jobs.iter().find(|entry| circle.contains(&entry.reference()))
        {
            let path: Vec<String> = circle.iter().map(ToString::to_string).collect();
            self.faults.push(entry.fault("children", format!("the jobs run after each other: {}", path.join(" → "))));
        }
    }
}

/// A deletion gives every parent that is left a new revision.
fn parents_first(live: &Live, mut deletes: Vec<JobChange>) -> Vec<JobChange> {
    let children = |job: &JobChange| -> Vec<JobRef> {
        let job = job.before.and_then(|(id, _)| live.by_id(id));
        let ids = job.map(|job| job.draft.children.clone()).unwrap_or_default();
        ids.iter().filter_map(|id| live.by_id(*id)?.reference()).collect()
    };
    let graph = deletes.iter().map(|job| (job.reference.clone(), children(job))).collect();
    let order: Vec<JobRef> = levels(&graph).unwrap_or_default().into_iter().rev().flatten().collect();
    deletes.sort_by_cached_key(|job| order.iter().position(|reference| *reference == job.reference));
    deletes
}

/// With what the server keeps where the file says nothing.
fn completed(entry: &JobEntry, live: &LiveJob) -> JobEntry {
    let mut entry = entry.clone();
    if !entry.says_enabled {
        entry.draft.enabled = live.draft.enabled;
    }
    let (own, there) = (&mut entry.draft.schedule, &live.draft.schedule);
    let is_same_rate = matches!(own.kind, KindDraft::FixedRate { .. }) && own.kind == there.kind;
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
    // A child without a key is none that a file could name.
    let name =
        |id: &i64| live.by_id(*id).and_then(LiveJob::reference).unwrap_or_else(|| JobRef::new("job", id.to_string()));
    let children: Vec<JobRef> = job.draft.children.iter().map(name).collect();
    members(&job.draft, &children)
}
