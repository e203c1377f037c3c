//! Jobs whose last run failed. The run table has no index by job, so the walk over ended runs keeps them.

use std::collections::BTreeMap;

use carillon_scheduler::RunState;
use foldhash::HashMap;

use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::report::changes::CountedRun;
use crate::views::ReportStore;

/// Whether the last run of each job failed, as far as one step of the walk sees it.
#[derive(Default)]
pub(crate) struct Outcomes(BTreeMap<i64, Outcome>);

#[derive(Default)]
struct Outcome {
    /// The newest success; 0: none.
    good: i64,
    bad: Vec<i64>,
}

/// The last failure, and how many there were since the last success.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Failing {
    run_id: i64,
    failures: i64,
}

impl Outcomes {
    pub fn add(&mut self, run: &CountedRun) {
        match run.state {
            RunState::Succeeded => {
                let outcome = self.0.entry(run.job_id).or_default();
                outcome.good = outcome.good.max(run.id);
            }
            RunState::Failed | RunState::Lost => self.0.entry(run.job_id).or_default().bad.push(run.id),
            _ => {}
        }
    }
}

impl Outcome {
    /// None: the last run succeeded. A run that was counted as lost and fails later counts once.
    fn after(&self, before: Option<Failing>) -> Option<Failing> {
        let before = before.filter(|failing| failing.run_id > self.good);
        let from = before.map_or(self.good, |failing| failing.run_id);
        let new: Vec<i64> = self.bad.iter().copied().filter(|id| *id > from).collect();
        let run_id = new.iter().copied().max().or(before.map(|failing| failing.run_id))?;
        Some(Failing { run_id, failures: before.map_or(0, |failing| failing.failures) + new.len() as i64 })
    }
}

impl ReportStore<'_> {
    pub(crate) async fn keep_failing(self, tx: &Transaction, outcomes: &Outcomes) -> Result<()> {
        if outcomes.0.is_empty() {
            return Ok(());
        }
        let jobs: Vec<i64> = outcomes.0.keys().copied().collect();
        let text = "SELECT job_id, run_id, failures FROM report_failing WHERE job_id IN ({ids})";
        let kept: Vec<(i64, i64, i64)> = self.tuples(tx, text, values![self.ids(&jobs)]).await?;
        let kept: HashMap<i64, Failing> =
            kept.into_iter().map(|(job, run_id, failures)| (job, Failing { run_id, failures })).collect();
        let (mut changed, mut rows) = (vec![], vec![]);
        for (job_id, outcome) in &outcomes.0 {
            let before = kept.get(job_id).copied();
            let after = outcome.after(before);
            if after == before {
                continue;
            }
            changed.extend(before.map(|_| *job_id));
            rows.extend(after.map(|failing| values![*job_id, failing.run_id, failing.failures]));
        }
        if !changed.is_empty() {
            self.delete_by_id(tx, "report_failing", "job_id", &changed).await?;
        }
        self.insert_rows(tx, "report_failing", "job_id, run_id, failures", rows).await
    }

    /// Deletes the rows of deleted jobs.
    pub(crate) async fn prune_failing(self) -> Result<u64> {
        let text = "DELETE FROM report_failing WHERE job_id NOT IN (SELECT id FROM job)";
        self.execute(&self.write, text, vec![]).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_fails_from_its_first_failure_until_its_next_success() {
        let failing = |run_id, failures| Some(Failing { run_id, failures });
        let outcome = |good, bad: &[i64]| Outcome { good, bad: bad.to_vec() };
        assert!(outcome(0, &[7]).after(None) == failing(7, 1));
        assert!(outcome(0, &[8, 9]).after(failing(7, 1)) == failing(9, 3));
        assert!(outcome(9, &[8, 10]).after(failing(7, 1)) == failing(10, 1), "a success between");
        assert!(outcome(9, &[8]).after(failing(7, 1)).is_none(), "and after it");
        assert!(outcome(0, &[7]).after(failing(7, 1)) == failing(7, 1), "lost, then failed");
        assert!(outcome(7, &[]).after(failing(7, 1)).is_none(), "lost, then succeeded");
        assert!(outcome(5, &[]).after(failing(7, 1)) == failing(7, 1), "an earlier run, which took long");
    }
}
