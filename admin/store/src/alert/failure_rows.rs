//! Failures in a row: what ends a row, and what counts as one failure of it.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt as _};

use crate::alert::event::AlertEvent;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::views::AlertStore;

/// How far back the runs of a job are looked at, in run ids: the run table has no index by job.
pub(super) const RECENT_RUN_IDS: i64 = 50_000;

/// A success that ends failures. Of a fire of several parts each must have an attempt that has succeeded: one that has does not speak
/// for one that has not. Counted, as MariaDB would read the whole table for `NOT EXISTS`.
pub(super) const SUCCEEDED: &str = "run.state = {state.succeeded} AND (run.parts = 1 OR run.parts = (SELECT COUNT(DISTINCT other.part) \
     FROM run AS other WHERE other.fire_no = run.fire_no AND other.job_id = run.job_id AND other.cause = run.cause \
     AND other.state = {state.succeeded}))";

/// What is known of the runs of events that are counted together.
#[derive(Default)]
pub(super) struct FailureRows {
    /// For jobs with several events: the runs between them that have succeeded.
    successes: HashMap<i64, Vec<i64>>,
    /// Cause and number of the fire, by run.
    fires: HashMap<i64, (i16, i64)>,
}

impl FailureRows {
    /// How many there are in a row with this event, after `count` of which `last` was the latest run.
    pub(super) fn count(&self, count: i64, last: Option<i64>, event: &AlertEvent) -> i64 {
        let (Some(last), Some(job_id), Some(run_id)) = (last, event.job_id, event.run_id) else {
            return count + 1;
        };
        let succeeded = self.successes.get(&job_id);
        if succeeded.is_some_and(|runs| runs.iter().any(|run| (last + 1..run_id).contains(run))) {
            return 1;
        }
        // The parts of a fire fail together.
        let fires = self.fires.get(&last).zip(self.fires.get(&run_id));
        if fires.is_some_and(|(last, this)| last == this) { count.max(1) } else { count + 1 }
    }
}

impl AlertStore<'_> {
    /// `last`: the runs that were counted last.
    pub(super) async fn failure_rows(
        self,
        tx: &Transaction,
        events: &[AlertEvent],
        last: impl Iterator<Item = i64>,
    ) -> Result<FailureRows> {
        // For the others each event counts.
        let in_a_row = events.iter().filter(|event| event.threshold > 1);
        let runs: Vec<(i64, i64)> = in_a_row.filter_map(|event| event.job_id.zip(event.run_id)).collect();
        if runs.is_empty() {
            return Ok(FailureRows::default());
        }
        let ids: Vec<i64> = runs.iter().map(|(_, run)| *run).chain(last).collect();
        let text = "SELECT id, cause, fire_no FROM run WHERE id IN ({ids})";
        let fires: Vec<(i64, i16, i64)> = self.tuples(tx, text, values![self.ids(&ids)]).await?;
        let fires = fires.into_iter().map(|(id, cause, fire_no)| (id, (cause, fire_no))).collect();
        Ok(FailureRows { successes: self.successes_between(tx, &runs).await?, fires })
    }

    /// The runs between the first and the last of these runs of each job.
    async fn successes_between(self, tx: &Transaction, runs: &[(i64, i64)]) -> Result<HashMap<i64, Vec<i64>>> {
        let mut spans: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for (job_id, run) in runs {
            let (first, last) = spans.entry(*job_id).or_insert((*run, *run));
            (*first, *last) = ((*first).min(*run), (*last).max(*run));
        }
        spans.retain(|_, (first, last)| first < last);
        let (first, last) = (spans.values().map(|span| span.0).min(), spans.values().map(|span| span.1).max());
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(HashMap::new());
        };
        let text =
            format!("SELECT job_id, id FROM run WHERE id > ? AND id < ? AND {SUCCEEDED} AND job_id IN ({{ids}})");
        let jobs: Vec<i64> = spans.into_keys().collect();
        let values = values![first.max(last - RECENT_RUN_IDS), last, self.ids(&jobs)];
        let mut found: HashMap<i64, Vec<i64>> = HashMap::new();
        for (job_id, run) in self.tuples::<(i64, i64)>(tx, &text, values).await? {
            found.entry(job_id).or_default().push(run);
        }
        Ok(found)
    }
}
