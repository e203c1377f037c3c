//! The last failed runs of each job, which retention keeps. The run table has no index by job, so the walk over ended runs keeps
//! them; a restart forgets nothing.

use std::collections::BTreeMap;

use carillon_scheduler::RunState;
use foldhash::HashSet;

use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::report::changes::CountedRun;
use crate::retention::rules::Retentions;
use crate::views::ReportStore;

/// Kept of each job at least, so that a rule can be raised.
const AT_LEAST: usize = 100;

/// Failed runs of one step of the walk, by job and app.
#[derive(Default)]
pub(crate) struct NewFailures(BTreeMap<(i64, i64), Vec<i64>>);

impl NewFailures {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, run: &CountedRun) {
        if run.state == RunState::Failed {
            self.0.entry((run.job_id, run.app_id)).or_default().push(run.id);
        }
    }
}

impl ReportStore<'_> {
    pub(crate) async fn keep_last_failures(
        self,
        tx: &Transaction,
        new: &NewFailures,
        rules: &Retentions,
    ) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let jobs: Vec<i64> = new.0.keys().map(|(job_id, _)| *job_id).collect();
        let mut kept = self.failures_of(tx, &jobs).await?;
        let (mut rows, mut gone) = (vec![], vec![]);
        for ((job_id, app_id), runs) in &new.0 {
            let most = AT_LEAST.max(rules.keep(*app_id, *job_id).failures.unsigned_abs() as usize);
            let known = kept.remove(job_id).unwrap_or_default();
            let mut all: Vec<i64> = known.iter().chain(runs).copied().collect();
            all.sort_unstable_by(|a, b| b.cmp(a));
            all.dedup();
            let border = all.get(most).copied().unwrap_or(0);
            let fresh = runs.iter().filter(|run| **run > border && !known.contains(run));
            rows.extend(fresh.map(|run| values![*run, *job_id]));
            gone.extend(known.iter().filter(|run| **run <= border).copied());
        }
        if !gone.is_empty() {
            self.delete_by_id(tx, "last_failure", "run_id", &gone).await?;
        }
        self.insert_rows(tx, "last_failure", "run_id, job_id", rows).await
    }

    async fn failures_of(self, tx: &Transaction, jobs: &[i64]) -> Result<BTreeMap<i64, Vec<i64>>> {
        let text = "SELECT job_id, run_id FROM last_failure WHERE job_id IN ({ids})";
        let mut found: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for (job_id, run_id) in self.tuples::<(i64, i64)>(tx, text, values![self.ids(jobs)]).await? {
            found.entry(job_id).or_default().push(run_id);
        }
        Ok(found)
    }

    /// The last failed runs of these jobs: of each as many as `keep` says.
    pub async fn last_failures(self, keep: &BTreeMap<i64, usize>) -> Result<HashSet<i64>> {
        if keep.is_empty() {
            return Ok(HashSet::default());
        }
        let jobs: Vec<i64> = keep.keys().copied().collect();
        let text = "SELECT job_id, run_id FROM last_failure WHERE job_id IN ({ids}) ORDER BY job_id, run_id DESC";
        let mut left = keep.clone();
        let mut last = HashSet::default();
        for (job_id, run_id) in self.tuples::<(i64, i64)>(&self.engine_reads, text, values![self.ids(&jobs)]).await? {
            let left = left.entry(job_id).or_default();
            if *left > 0 {
                *left -= 1;
                last.insert(run_id);
            }
        }
        Ok(last)
    }

    /// Deletes the rows of deleted jobs.
    pub(crate) async fn prune_last_failures(self) -> Result<u64> {
        let text = "DELETE FROM last_failure WHERE job_id NOT IN (SELECT id FROM job)";
        self.execute(&self.write, text, vec![]).await
    }
}
