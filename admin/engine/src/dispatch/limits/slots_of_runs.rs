//! Which slots runs need: of each limit of their job, and of the value of its key in their parameters.

use std::sync::Arc;

use carillon_scheduler::SlotKey;
use carillon_scheduler::run::limit::slot_key;
use foldhash::HashMap;

use crate::dispatch::given_params::given_params;
use crate::dispatch::limits::gate::LimitGate;
use crate::dispatch::limits::rules::LimitSet;
use crate::dispatch::stages::AdmittedRun;
use crate::job_cache::{CachedJob, JobsById};
use carillon_store as store;
use carillon_store::job::job_row::Params;

/// What a run needs of limits.
pub enum Needs {
    /// Nothing: its limits are gone.
    Nothing,
    Slots(Arc<[SlotKey]>),
    /// Its job names a limit that is not known here yet.
    Unknown,
}

impl LimitGate {
    /// What each of these runs needs, in their order.
    ///
    /// # Errors
    /// The limits, or the parameters of runs whose limits have keys, could not be read.
    pub async fn needs_of(&self, runs: &[AdmittedRun]) -> store::Result<Vec<Needs>> {
        let mut set = self.limit_rules.current();
        if runs.iter().any(|run| set.of_job(&run.job).is_none()) {
            self.limit_rules.refresh().await?;
            set = self.limit_rules.current();
        }
        let keyed: Vec<&AdmittedRun> = runs.iter().filter(|run| has_key(&set, &run.job)).collect();
        if keyed.is_empty() {
            return Ok(runs.iter().map(|run| needs(&set, &run.job, "")).collect());
        }
        let given = given_params(&self.cx.store, keyed.iter().map(|run| &run.run)).await?;
        let given: HashMap<i64, String> = given.into_iter().map(|(run_id, params)| (run_id, params.text)).collect();
        let whole = self.jobs.with_params(keyed.iter().map(|run| &run.job)).await?;
        let params_of = |run: &AdmittedRun| match given.get(&run.run.run_id) {
            Some(text) => text.clone(),
            None => own_params(&run.job, &whole),
        };
        Ok(runs.iter().map(|run| needs(&set, &run.job, &params_of(run))).collect())
    }
}

fn has_key(set: &LimitSet, job: &CachedJob) -> bool {
    set.of_job(job).unwrap_or_default().iter().any(|rule| !rule.key_path.is_empty())
}

/// Those of its job, long ones too.
fn own_params(job: &CachedJob, whole: &JobsById) -> String {
    let job = whole.get(&job.stored.job_id).map_or(job, |whole| &**whole);
    match &job.stored.params {
        Params::Here(text) => text.clone(),
        Params::Apart | Params::TooLong => String::new(),
    }
}

fn needs(set: &LimitSet, job: &CachedJob, params: &str) -> Needs {
    let Some(rules) = set.of_job(job) else {
        return Needs::Unknown;
    };
    let slot = |rule: &&store::LimitRule| SlotKey { limit_id: rule.id, key: slot_key(&rule.key_path, params) };
    let slots: Vec<SlotKey> = rules.iter().map(slot).collect();
    if slots.is_empty() { Needs::Nothing } else { Needs::Slots(slots.into()) }
}
