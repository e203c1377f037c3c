//! The order in which declared jobs are made: those that are started come first, so that the others find them.

use std::collections::{BTreeMap, BTreeSet};

use carillon_protocol::DeclaredJob;
use serde_json::Value;

/// The keys of the jobs that a job starts: its children, and the jobs of its nodes.
pub fn started(job: &DeclaredJob) -> Vec<&str> {
    let children = job.members.get("children").and_then(Value::as_array).into_iter().flatten();
    let nodes = job.members.get("workflow").and_then(|graph| graph.get("nodes")).and_then(Value::as_object);
    let of_nodes = nodes.into_iter().flat_map(|nodes| nodes.values()).filter_map(|node| node.get("job"));
    children.chain(of_nodes).filter_map(Value::as_str).collect()
}

/// The jobs, each after those that it starts. In a circle, which the server refuses, the order is that of the list.
pub fn in_order(jobs: &[DeclaredJob]) -> Vec<&DeclaredJob> {
    let (mut ordered, mut seen) = (vec![], BTreeSet::new());
    let by_key = jobs.iter().map(|job| (job.key.as_str(), job)).collect();
    for job in jobs {
        add(job, &by_key, &mut seen, &mut ordered);
    }
    ordered
}

fn add<'a>(
    job: &'a DeclaredJob,
    by_key: &BTreeMap<&'a str, &'a DeclaredJob>,
    seen: &mut BTreeSet<&'a str>,
    ordered: &mut Vec<&'a DeclaredJob>,
) {
    // The way from job to started job, with what is left to do for each: a long chain must not exhaust the stack.
    let mut way: Vec<(&DeclaredJob, Vec<&str>)> = vec![];
    if seen.insert(&job.key) {
        way.push((job, started(job)));
    }
    while let Some((job, rest)) = way.last_mut() {
        let job = *job;
        match rest.pop() {
            None => {
                ordered.push(job);
                way.pop();
            }
            Some(key) => {
                let next = by_key.get(key).copied();
                if let Some(next) = next.filter(|next| seen.insert(&next.key)) {
                    way.push((next, started(next)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(key: &str, members: Value) -> DeclaredJob {
        DeclaredJob {
            key: key.to_owned(),
            members: members.as_object().cloned().unwrap_or_default(),
            ..DeclaredJob::default()
        }
    }

    #[test]
    fn started_jobs_come_first() {
        let jobs = [
            job("all", json!({"workflow": {"nodes": {"x": {"job": "import"}, "y": {"job": "elsewhere"}}}})),
            job("import", json!({"children": ["report", "mail"]})),
            job("mail", json!({})),
            job("report", json!({"children": ["mail"]})),
            job("ring", json!({"children": ["ring"]})),
        ];
        let keys: Vec<&str> = in_order(&jobs).iter().map(|job| job.key.as_str()).collect();
        assert_eq!(keys, ["mail", "report", "import", "all", "ring"]);
    }
}
