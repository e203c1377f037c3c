//! The jobs that a job starts: its children and the jobs of its nodes. They exist, and no job starts itself through others.

use std::collections::{BTreeMap, BTreeSet};

use super::change::JobChange;
use super::order::levels;
use crate::document::{Fault, FileSet, JobEntry, JobRef};
use crate::live::{Live, LiveJob};

/// Children and nodes of these files that name no job, and a circle of jobs that start each other.
pub fn faults(set: &FileSet, live: &Live, deletes: &[JobChange]) -> Vec<Fault> {
    let own: BTreeSet<JobRef> = set.jobs.iter().map(JobEntry::reference).collect();
    let deleted: BTreeSet<&JobRef> = deletes.iter().map(|job| &job.reference).collect();
    let is_there = |job: &JobRef| (own.contains(job) || live.by_reference(job).is_some()) && !deleted.contains(job);
    let mut faults = vec![];
    for entry in &set.jobs {
        let unknown = |member: &str, job: &JobRef| {
            entry.fault(member, format!("there is no job {job}, neither in the files nor on the server"))
        };
        let children = entry.children.iter().filter(|child| !is_there(child));
        faults.extend(children.map(|child| unknown("children", child)));
        let nodes = entry.nodes().filter(|(_, job)| !is_there(job));
        faults.extend(nodes.map(|(node, job)| unknown(&format!("workflow.nodes.{node}.job"), &job)));
    }
    faults.extend(circle(set));
    faults
}

fn circle(set: &FileSet) -> Option<Fault> {
    let graph: BTreeMap<JobRef, Vec<JobRef>> =
        set.jobs.iter().map(|entry| (entry.reference(), entry.starts())).collect();
    let circle = levels(&graph).err()?;
    let entry_of = |job: &JobRef| set.jobs.iter().find(|entry| entry.reference() == *job);
    let steps = circle.iter().zip(circle.iter().cycle().skip(1));
    let node = steps.filter_map(|(job, next)| {
        let entry = entry_of(job)?;
        let (name, _) = entry.nodes().find(|(_, started)| started == next)?;
        Some((entry, format!("workflow.nodes.{name}.job")))
    });
    let path = circle.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ");
    match node.into_iter().next() {
        Some((entry, member)) => Some(entry.fault(&member, format!("the jobs start each other: {path}"))),
        None => Some(entry_of(circle.first()?)?.fault("children", format!("the jobs run after each other: {path}"))),
    }
}

/// A deletion gives every job that starts it a new revision, and a job that a workflow runs is not deleted.
pub fn starters_first(live: &Live, mut deletes: Vec<JobChange>) -> Vec<JobChange> {
    let starts = |job: &JobChange| -> Vec<JobRef> {
        let job = job.before.and_then(|(id, _)| live.by_id(id));
        let ids = job.map(LiveJob::started_ids).unwrap_or_default();
        ids.iter().filter_map(|id| live.by_id(*id)?.reference()).collect()
    };
    let graph = deletes.iter().map(|job| (job.reference.clone(), starts(job))).collect();
    let order: Vec<JobRef> = levels(&graph).unwrap_or_default().into_iter().rev().flatten().collect();
    deletes.sort_by_cached_key(|job| order.iter().position(|reference| *reference == job.reference));
    deletes
}

/// Whether the change takes a child or the job of a node away.
pub fn gives_away(live: &Live, change: &JobChange) -> bool {
    let before = change.before.and_then(|(id, _)| live.by_id(id));
    let before = before.map(LiveJob::started_ids).unwrap_or_default();
    let after: BTreeSet<JobRef> = change.starts().into_iter().collect();
    before.iter().any(|id| live.by_id(*id).and_then(LiveJob::reference).is_none_or(|job| !after.contains(&job)))
}
