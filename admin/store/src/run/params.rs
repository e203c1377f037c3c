//! What a run was given. A run has parameters of its own, or those that its job had under the revision it was sent with.
//! The change that gives a job other parameters keeps the old ones under their last revision; they go when no run is left
//! that was sent with them.

use std::collections::hash_map::Entry;

use carillon_scheduler::Millis;
use foldhash::{HashMap, HashMapExt as _};

use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::job::stored_job::Job;
use crate::run::view::run_view::RunView;
use crate::views::RunStore;

/// What a run was given, or why that cannot be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunParams {
    /// Given with this fire in place of the job's own.
    Own(String),
    /// The job's own, under the revision that the run was sent with.
    Sent(String),
    /// Not sent yet: the job's own of now, which it is going to get.
    Waiting(String),
    /// The run was never sent.
    NeverSent,
    /// The run was sent by a version that did not keep parameters, or its job was deleted with them.
    NotOnRecord,
}

impl RunParams {
    /// None: not known, or there are none because the run was never sent.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Own(text) | Self::Sent(text) | Self::Waiting(text) => Some(text),
            Self::NeverSent | Self::NotOnRecord => None,
        }
    }
}

const HISTORY: &str = "job_id, revision, params, runs_to";
/// The oldest runs, among which a job's are looked for before its earlier parameters go. Retention leaves few old ones, so
/// these reach far; where they do not, the parameters stay.
const LOOKED_AT: i64 = 20_000;

impl RunStore<'_> {
    /// `run` was read by its id.
    pub async fn params_of(self, run: &RunView) -> Result<RunParams> {
        if let Some(own) = &run.params {
            return Ok(RunParams::Own(own.clone()));
        }
        let Some(revision) = run.revision else {
            return match (run.marked_at, run.state.is_open()) {
                (None, true) => {
                    let params = self.params_at(run.job_id, Millis::MAX).await?;
                    Ok(params.map_or(RunParams::NotOnRecord, RunParams::Waiting))
                }
                (None, false) => Ok(RunParams::NeverSent),
                (Some(_), _) => Ok(RunParams::NotOnRecord),
            };
        };
        let params = self.params_at(run.job_id, revision).await?;
        Ok(params.map_or(RunParams::NotOnRecord, RunParams::Sent))
    }

    /// What each of these runs was given, in their order, as [`Self::params_of`] says it. Runs of one revision are looked up once.
    pub async fn params_of_each(self, runs: &[&RunView]) -> Result<Vec<RunParams>> {
        let ids: Vec<i64> = runs.iter().map(|run| run.id).collect();
        let given = self.jobs().given_params(&ids).await?;
        let mut own: HashMap<i64, String> = given.into_iter().map(|(id, given)| (id, given.text)).collect();
        let mut sent: HashMap<(i64, i64), RunParams> = HashMap::new();
        let mut found = Vec::with_capacity(runs.len());
        for run in runs {
            let params = match (own.remove(&run.id), run.revision) {
                (Some(own), _) => RunParams::Own(own),
                (None, Some(revision)) => match sent.entry((run.job_id, revision)) {
                    Entry::Occupied(known) => known.get().clone(),
                    Entry::Vacant(new) => new.insert(self.params_of(run).await?).clone(),
                },
                (None, None) => self.params_of(run).await?,
            };
            found.push(params);
        }
        Ok(found)
    }

    /// The parameters of a job under a revision: those that were replaced next after it, or else the present ones.
    async fn params_at(self, job_id: i64, revision: i64) -> Result<Option<String>> {
        let text = "SELECT COALESCE((SELECT params FROM job_params_history WHERE job_id = ? AND revision >= ? ORDER BY revision LIMIT 1), \
                    (SELECT params FROM job_params WHERE job_id = ?))";
        let values = values![job_id, revision, job_id];
        Ok(self.tuple::<Option<_>>(&self.read, text, values).await?.flatten())
    }

    /// Keeps the parameters of a job that is about to get others, or to go.
    pub(crate) async fn keep_params(self, tx: &Transaction, old: &Job) -> Result<()> {
        let newest: Option<i64> = self.tuple::<Option<i64>>(tx, "SELECT MAX(id) FROM run", vec![]).await?.flatten();
        let row = values![old.id, old.revision, old.draft.params.as_str(), newest.unwrap_or(0)];
        self.insert_rows(tx, "job_params_history", HISTORY, vec![row]).await
    }

    /// Deletes earlier parameters with which no run is left; answers how many.
    pub(crate) async fn prune_params(self) -> Result<u64> {
        // The end of what is looked at is found first: runs that go meanwhile only make the rest of this smaller.
        let text = "SELECT COUNT(*), MAX(id) FROM (SELECT id FROM run ORDER BY id LIMIT ?) AS oldest";
        let (count, last): (i64, Option<i64>) =
            self.tuple(&self.engine_reads, text, values![LOOKED_AT]).await?.unwrap_or_default();
        let last = last.filter(|_| count >= LOOKED_AT).unwrap_or(i64::MAX);
        let text = "SELECT job_id, revision FROM job_params_history h WHERE h.runs_to <= ? AND NOT EXISTS \
                    (SELECT 1 FROM (SELECT job_id, MIN(id) AS first FROM run WHERE id <= ? GROUP BY job_id) AS kept \
                    WHERE kept.job_id = h.job_id AND kept.first <= h.runs_to) LIMIT 1000";
        let mut done = 0;
        for (job_id, revision) in self.tuples::<(i64, i64)>(&self.engine_reads, text, values![last, last]).await? {
            let text = "DELETE FROM job_params_history WHERE job_id = ? AND revision = ?";
            done += self.execute(&self.write, text, values![job_id, revision]).await?;
        }
        Ok(done)
    }
}
