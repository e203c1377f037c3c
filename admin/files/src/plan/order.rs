//! Children before their parents, and the jobs of nodes before their workflow.

use std::collections::BTreeMap;

use crate::document::JobRef;

/// Levels of jobs by those that they start, children and jobs of nodes: each job stands in a later level than what it starts among
/// these jobs.
///
/// # Errors
/// A circle, as the jobs on it.
pub fn levels(starts: &BTreeMap<JobRef, Vec<JobRef>>) -> Result<Vec<Vec<JobRef>>, Vec<JobRef>> {
    let mut left: BTreeMap<&JobRef, Vec<&JobRef>> = starts
        .iter()
        .map(|(job, own)| (job, own.iter().filter(|started| starts.contains_key(started)).collect()))
        .collect();
    let mut levels = vec![];
    while !left.is_empty() {
        let ready: Vec<JobRef> = left.iter().filter(|(_, own)| own.is_empty()).map(|(job, _)| (*job).clone()).collect();
        if ready.is_empty() {
            return Err(circle(&left));
        }
        left.retain(|job, _| ready.binary_search(job).is_err());
        left.values_mut().for_each(|own| own.retain(|started| ready.binary_search(started).is_err()));
        levels.push(ready);
    }
    Ok(levels)
}

/// Each of these jobs starts one of them: from one to the next the walk comes back.
fn circle(left: &BTreeMap<&JobRef, Vec<&JobRef>>) -> Vec<JobRef> {
    let mut path: Vec<&JobRef> = vec![];
    let mut at = left.keys().next().copied();
    while let Some(job) = at {
        if let Some(start) = path.iter().position(|seen| *seen == job) {
            return path[start..].iter().map(|job| (*job).clone()).collect();
        }
        path.push(job);
        at = left.get(job).and_then(|own| own.first().copied());
    }
    path.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> BTreeMap<JobRef, Vec<JobRef>> {
        let job = |key: &&str| JobRef::new("a", *key);
        edges.iter().map(|(key, own)| (job(key), own.iter().map(job).collect())).collect()
    }

    #[test]
    fn children_come_first_and_a_circle_is_named() {
        let found = levels(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[]), ("d", &["elsewhere"])])).unwrap();
        let keys: Vec<Vec<&str>> = found.iter().map(|level| level.iter().map(|job| &*job.key).collect()).collect();
        assert_eq!(keys, [vec!["c", "d"], vec!["b"], vec!["a"]]);
        let circle = levels(&graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])])).unwrap_err();
        assert_eq!(circle.iter().map(|job| &*job.key).collect::<Vec<_>>(), ["b", "c"]);
    }
}
