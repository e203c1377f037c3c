//! Children: comma lists of numbers that may be stale, the job's own, twice the same, or form a circle.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::job::limits::CHILDREN;

use super::report::Report;

/// The children of each job, by the numbers there, without those that cannot be ones. `mapped`: the jobs that are imported.
pub fn map_children(lists: &BTreeMap<i64, String>, report: &mut Report) -> BTreeMap<i64, Vec<i64>> {
    let mut found: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (job, list) in lists {
        let mut kept: Vec<i64> = vec![];
        for item in list.split(',').filter(|item| !item.trim().is_empty()) {
            // xxl-job does not trim: ` 2` is no number there.
            let child: Option<i64> = item.parse().ok().filter(|_| kept.len() < CHILDREN);
            match child.filter(|child| child != job && lists.contains_key(child) && !kept.contains(child)) {
                Some(child) => kept.push(child),
                None => report.add("K1", format!("job {job}"), format!("child `{item}`")),
            }
        }
        found.insert(*job, kept);
    }
    cut_circles(&mut found, report);
    found
}

/// Follows each chain; an edge back to a job of the chain is left out.
fn cut_circles(children: &mut BTreeMap<i64, Vec<i64>>, report: &mut Report) {
    let (mut done, jobs): (BTreeSet<i64>, Vec<i64>) = (BTreeSet::new(), children.keys().copied().collect());
    for job in jobs {
        // The chain, each with the place of the child that is looked at next.
        let mut chain = vec![(job, 0)];
        while let Some((parent, at)) = chain.last().copied() {
            let Some(child) = children.get(&parent).and_then(|list| list.get(at)).copied() else {
                done.insert(parent);
                chain.pop();
                continue;
            };
            if chain.iter().any(|(other, _)| *other == child) {
                report.add("K2", format!("job {parent}"), format!("child {child}"));
                children.entry(parent).or_default().remove(at);
                continue;
            }
            if let Some((_, place)) = chain.last_mut() {
                *place += 1;
            }
            if !done.contains(&child) {
                chain.push((child, 0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_child_is_left_out_and_reported() {
        let lists = [(1, "2,9,1,2, 3,x"), (2, ""), (3, "")].map(|(job, list)| (job, list.to_owned()));
        let mut report = Report::default();
        let found = map_children(&BTreeMap::from(lists), &mut report);
        assert_eq!(found[&1], [2]);
        assert_eq!(report.rows("K1").len(), 5);
    }

    #[test]
    fn a_circle_is_cut_at_its_last_edge() {
        let lists = [(1, "2,4"), (2, "3"), (3, "1,2"), (4, "3")].map(|(job, list)| (job, list.to_owned()));
        let mut report = Report::default();
        let found = map_children(&BTreeMap::from(lists), &mut report);
        assert_eq!(found, BTreeMap::from([(1, vec![2, 4]), (2, vec![3]), (3, vec![]), (4, vec![3])]));
        assert_eq!(report.rows("K2"), ["job 3", "job 3"]);
    }
}
