//! Which slots runs need: of each limit of their job, and of the value of its key in their parameters.

use std::sync::Arc;

use carillon_scheduler::SlotKey;
use carillon_scheduler::limit::slot_key;
use foldhash::HashMap;

use crate::dispatch::given_params::given_params;
use crate::dispatch::limits::gate::LimitGate;
use crate::dispatch::limits::rules::LimitSet;
use crate::dispatch::stages::AdmittedRun;
use crate::job_cache::{CachedJob, JobsById};
use carillon_store as store;
use carillon_store::job::job_row::Params;

impl LimitGate {
    /// The slots of each of these runs, in their order; None: its limits are gone.
    ///
    /// # Errors
    /// The parameters of runs whose limits have keys could not be read.
    pub async fn slots_of(&self, runs: &[AdmittedRun]) -> store::Result<Vec<Option<Arc<[SlotKey]>>>> {
        let set = self.limit_rules.current();
        let keyed: Vec<&AdmittedRun> = runs.iter().filter(|run| has_key(&set, &run.job)).collect();
        if keyed.is_empty() {
            return Ok(runs.iter().map(|run| slots(&set, &run.job, "")).collect());
        }
        let given = given_params(&self.cx.store, keyed.iter().map(|run| &run.run)).await?;
        let given: HashMap<i64, String> = given.into_iter().map(|(run_id, params)| (run_id, params.text)).collect();
        let whole = self.jobs.with_params(keyed.iter().map(|run| &run.job)).await?;
        let params_of = |run: &AdmittedRun| match given.get(&run.run.run_id) {
            Some(text) => text.clone(),
            None => own_params(&run.job, &whole),
        };
        Ok(runs.iter().map(|run| slots(&set, &run.job, &params_of(run))).collect())
    }
}

fn has_key(set: &LimitSet, job: &CachedJob) -> bool {
    set.of_job(job).iter().any(|rule| !rule.key_path.is_empty())
}

/// Those of its job, long ones too.
fn own_params(job: &CachedJob, whole: &JobsById) -> String {
    let job = whole.get(&job.stored.job_id).map_or(job, |whole| &**whole);
    match &job.stored.params {
        Params::Here(text) => text.clone(),
        Params::Apart | Params::TooLong => String::new(),
    }
}

fn slots(set: &LimitSet, job: &CachedJob, params: &str) -> Option<Arc<[SlotKey]>> {
    let slot = |rule: &&store::LimitRule| SlotKey { limit_id: rule.id, key: slot_key(&rule.key_path, params) };
    let slots: Vec<SlotKey> = set.of_job(job).iter().map(slot).collect();
    if slots.is_empty() { None } else { Some(slots.into()) }
}
