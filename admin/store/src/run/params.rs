//! What a run was given. A run has parameters of its own, or those that its job had under the revision it was sent with.
//! The change that gives a job other parameters keeps the old ones under their last revision; they go when no run is left
//! that was sent with them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use carillon_scheduler::{Cause, Millis, Parts};
use foldhash::{HashMap, HashMapExt as _};
use sea_orm::FromQueryResult;

use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::job::audit_snapshot::short_params;
use crate::job::job_row::GivenParams;
use crate::job::stored_job::Job;
use crate::run::view::run_view::RunView;
use crate::views::RunStore;

/// What a run was given, or why that cannot be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunParams {
    /// Given with this fire in place of the job's own.
    Own(String),
    /// The same, and they repeat what the job was saved with.
    Repeated(String),
    /// Those of this part of the fire, from a list with a text for each part.
    OfPart(String),
    /// The job's own, under the revision that the run was sent with.
    Sent(String),
    /// Not sent yet: the job's own of now, which it is going to get.
    Waiting(String),
    /// Items of another run, or how many there are.
    Items,
    /// The run was never sent.
    NeverSent,
    /// The run was sent by a version that did not keep parameters, or its job was deleted with them.
    NotOnRecord,
}

impl RunParams {
    /// None: not known, or there are none because the run was never sent.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Own(text) | Self::Repeated(text) | Self::OfPart(text) | Self::Sent(text) | Self::Waiting(text) => {
                Some(text)
            }
            Self::Items | Self::NeverSent | Self::NotOnRecord => None,
        }
    }

    /// Those that were given with a fire.
    fn given(text: String, is_of_part: bool, repeats_saved: bool) -> Self {
        match (is_of_part, repeats_saved) {
            (true, _) => Self::OfPart(text),
            (false, true) => Self::Repeated(text),
            (false, false) => Self::Own(text),
        }
    }
}

/// Parameters that a run may have been sent with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamingText {
    pub run_id: i64,
    /// The app of the run, and that of its job, which may have moved since.
    pub app_ids: [i64; 2],
    /// Shared by the runs of a job.
    pub text: Arc<str>,
}

/// What a part of a fire was given, and what was asked for with the fire.
#[derive(FromQueryResult)]
struct FireInput {
    params: Option<String>,
    is_of_part: bool,
    parts: Option<i32>,
    part_params: Option<String>,
}

const HISTORY: &str = "job_id, revision, params, runs_to, replaced_at";
/// The oldest runs, among which a job's are looked for before its earlier parameters go. Retention leaves few old ones, so
/// these reach far; where they do not, the parameters stay.
const LOOKED_AT: i64 = 20_000;

impl RunStore<'_> {
    /// `run` was read by its id.
    pub async fn params_of(self, run: &RunView) -> Result<RunParams> {
        if run.cause == Cause::Item {
            return Ok(RunParams::Items);
        }
        if let Some(own) = &run.params {
            let (is_of_part, repeats_saved) = (run.is_of_part == Some(true), run.repeats_saved == Some(true));
            return Ok(RunParams::given(own.clone(), is_of_part, repeats_saved));
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
        let mut given: HashMap<i64, GivenParams> = self.jobs().given_params(&ids).await?.into_iter().collect();
        let mut sent: HashMap<(i64, i64), RunParams> = HashMap::new();
        let mut found = Vec::with_capacity(runs.len());
        for run in runs {
            let params = match (given.remove(&run.id), run.revision) {
                _ if run.cause == Cause::Item => RunParams::Items,
                (Some(given), _) => RunParams::given(given.text, given.is_of_part, given.repeats_saved),
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

    /// The parameters of these runs' jobs that may name secrets: those of now, those of before that are on record, and those that the runs
    /// repeat. A run whose job has never named a secret has none. Nor has one with other parameters of its own: it was sent no secret, and a
    /// mask in what it sends back would tell which texts are secrets to those who give it parameters.
    pub async fn naming_texts(self, run_ids: &[i64]) -> Result<Vec<NamingText>> {
        const RUNS: &str = "SELECT run.id, run.job_id, run.app_id, COALESCE(job.app_id, run.app_id), given.params FROM run \
                            LEFT JOIN job ON job.id = run.job_id LEFT JOIN run_input AS given ON given.run_id = run.id \
                            WHERE run.id IN ({ids}) AND (given.params IS NULL OR given.repeats_saved = TRUE)";
        let runs: Vec<(i64, i64, i64, i64, Option<String>)> =
            self.tuples(&self.engine_reads, RUNS, values![self.ids(run_ids)]).await?;
        let job_ids: BTreeSet<i64> = runs.iter().map(|(_, job_id, ..)| *job_id).collect();
        let of_jobs = self.naming_texts_of_jobs(&job_ids.into_iter().collect::<Vec<_>>()).await?;
        let mut found = vec![];
        for (run_id, job_id, of_run, of_job, repeated) in runs {
            let repeated = repeated.filter(|text| text.contains("secret.")).map(Arc::from);
            let texts = of_jobs.get(&job_id).into_iter().flatten().cloned().chain(repeated);
            found.extend(texts.map(|text| NamingText { run_id, app_ids: [of_run, of_job], text }));
        }
        Ok(found)
    }

    /// By job, each text once, however many runs it has.
    async fn naming_texts_of_jobs(self, job_ids: &[i64]) -> Result<HashMap<i64, Vec<Arc<str>>>> {
        const TEXTS: &str = "SELECT job_id, params FROM job_params WHERE job_id IN ({ids}) AND params LIKE '%secret.%' \
                             UNION ALL SELECT job_id, params FROM job_params_history WHERE job_id IN ({ids}) AND params LIKE '%secret.%'";
        let mut texts: HashMap<i64, Vec<Arc<str>>> = HashMap::new();
        let rows = self.tuples(&self.engine_reads, TEXTS, values![self.ids(job_ids), self.ids(job_ids)]).await?;
        for (job_id, text) in rows.into_iter().map(|(job_id, text): (i64, String)| (job_id, Arc::from(text))) {
            texts.entry(job_id).or_default().push(text);
        }
        Ok(texts)
    }

    /// What a repetition of a run's fire is split into: the list of the fire, or the number of parts that was asked for with it. None: what
    /// the job has now, also where the list is not on record as a whole.
    pub async fn parts_to_repeat(self, run: &RunView) -> Result<Option<Parts>> {
        // Only these have been split, or were asked to be.
        if run.parts == 1 && !matches!(run.cause, Cause::Manual | Cause::Api | Cause::Delayed) {
            return Ok(None);
        }
        let text = "SELECT i.params, i.is_of_part, i.parts, i.part_params FROM run JOIN run_input AS i ON i.run_id = run.id \
                    WHERE run.fire_no = ? AND run.job_id = ? AND run.cause = ? AND run.attempt = 1 ORDER BY run.part";
        let values = values![run.fire_no, run.job_id, run.cause.code()];
        let inputs: Vec<FireInput> = self.all(&self.read, text, values).await?;
        let of_parts = inputs.iter().filter(|input| input.is_of_part);
        let texts: Vec<String> = of_parts.filter_map(|input| input.params.clone()).collect();
        if run.parts > 1 && texts.len() == run.parts.unsigned_abs() as usize {
            return Ok(Some(Parts::Each(texts)));
        }
        let asked = inputs.into_iter().find_map(|input| Some((input.parts?, input.part_params)));
        Ok(asked.map(|(count, texts)| {
            let texts = texts.and_then(|texts| serde_json::from_str(&texts).ok());
            texts.map_or(Parts::Count(count), Parts::Each)
        }))
    }

    /// The parameters of a job under a revision: those that were replaced next after it, or else the present ones.
    pub(crate) async fn params_at(self, job_id: i64, revision: i64) -> Result<Option<String>> {
        let text = "SELECT COALESCE((SELECT params FROM job_params_history WHERE job_id = ? AND revision >= ? ORDER BY revision LIMIT 1), \
                    (SELECT params FROM job_params WHERE job_id = ?))";
        let values = values![job_id, revision, job_id];
        Ok(self.tuple::<Option<_>>(&self.read, text, values).await?.flatten())
    }

    /// Keeps the parameters of a job that is about to get others, or to go.
    pub(crate) async fn keep_params(self, tx: &Transaction, old: &Job, now: Millis) -> Result<()> {
        let newest: Option<i64> = self.tuple::<Option<i64>>(tx, "SELECT MAX(id) FROM run", vec![]).await?.flatten();
        let params = old.draft.params.as_str();
        // What the audit keeps whole is not needed here to restore the definition.
        let replaced_at = if matches!(short_params(params), Cow::Owned(_)) { now } else { 0 };
        let row = values![old.id, old.revision, params, newest.unwrap_or(0), replaced_at];
        self.insert_rows(tx, "job_params_history", HISTORY, vec![row]).await
    }

    /// Deletes earlier parameters with which no run is left, and which are not kept for former definitions; answers how many.
    pub(crate) async fn prune_params(self) -> Result<u64> {
        // The end of what is looked at is found first: runs that go meanwhile only make the rest of this smaller.
        let text = "SELECT COUNT(*), MAX(id) FROM (SELECT id FROM run ORDER BY id LIMIT ?) AS oldest";
        let (count, last): (i64, Option<i64>) =
            self.tuple(&self.engine_reads, text, values![LOOKED_AT]).await?.unwrap_or_default();
        let last = last.filter(|_| count >= LOOKED_AT).unwrap_or(i64::MAX);
        let text = "SELECT job_id, revision FROM job_params_history h WHERE h.runs_to <= ? AND h.replaced_at = 0 AND NOT EXISTS \
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
