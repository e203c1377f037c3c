//! Which slots runs need: of each limit of their job, and of the value of its key in their parameters.

use carillon_scheduler::SlotKey;
use carillon_scheduler::run::limit::slot_key;
use foldhash::HashMap;

use crate::dispatch::given_params::given_params;
use crate::dispatch::limits::gate::LimitGate;
use crate::dispatch::limits::line::{KnownSlots, Needs};
use crate::dispatch::limits::rules::LimitSet;
use crate::dispatch::stages::AdmittedRun;
use crate::executor::request::{filled_params, own_params};
use crate::job_cache::CachedJob;
use carillon_store as store;
use carillon_store::job::job_row::GivenParams;

/// Runs whose parameters are read at once: they may be long.
const PAGE: usize = 50;
/// The same in one tick: others wait for it.
const MOST_READ: usize = 500;

impl LimitGate {
    /// What each of these runs needs, in their order.
    ///
    /// # Errors
    /// The limits, or the parameters of runs whose limits have keys, could not be read.
    pub async fn needs_of(&self, runs: &[AdmittedRun]) -> store::Result<Vec<Needs>> {
        let mut set = self.limit_rules.current();
        let is_new = |run: &AdmittedRun| set.of_job(&run.job).is_none() && !self.limit_rules.is_fresh();
        if runs.iter().any(is_new) {
            self.limit_rules.refresh().await?;
            set = self.limit_rules.current();
        }
        let mut found: Vec<Option<Needs>> = runs.iter().map(|run| self.known_needs(&set, run)).collect();
        let unknown: Vec<usize> = (0..runs.len()).filter(|place| found[*place].is_none()).take(MOST_READ).collect();
        for page in unknown.chunks(PAGE) {
            let page: Vec<&AdmittedRun> = page.iter().map(|place| &runs[*place]).collect();
            self.read_slots(&set, &page).await?;
        }
        for place in unknown {
            found[place] = self.known_needs(&set, &runs[place]);
        }
        Ok(found.into_iter().map(|needs| needs.unwrap_or(Needs::Later)).collect())
    }

    /// What needs no look at parameters, or was found out before. None: they have to be read.
    fn known_needs(&self, set: &LimitSet, run: &AdmittedRun) -> Option<Needs> {
        if !has_key(set, &run.job) {
            return Some(needs(set, &run.job, ""));
        }
        let line = self.line.lock();
        let known = line.known.get(&run.run.run_id)?;
        let is_current = known.job_version == run.job.version() && known.rules == versions(set, &run.job);
        is_current.then(|| Needs::Slots(known.slots.clone()))
    }

    /// Keeps the slots of these runs, for as long as they wait.
    async fn read_slots(&self, set: &LimitSet, runs: &[&AdmittedRun]) -> store::Result<()> {
        let given = given_params(&self.cx.store, runs.iter().map(|run| &run.run)).await?;
        let mut given: HashMap<i64, GivenParams> = given.into_iter().collect();
        let whole = self.jobs.with_params(runs.iter().map(|run| &run.job)).await?;
        for AdmittedRun { run, job, .. } in runs {
            // As the executor gets them.
            let own = || own_params(whole.get(&job.stored.job_id).unwrap_or(job));
            let params = filled_params(run, job, given.remove(&run.run_id), own);
            if let Needs::Slots(slots) = needs(set, job, &params) {
                let known = KnownSlots { job_version: job.version(), rules: versions(set, job), slots };
                self.line.lock().known.insert(run.run_id, known);
            }
        }
        Ok(())
    }
}

fn versions(set: &LimitSet, job: &CachedJob) -> Vec<(i64, i64)> {
    set.of_job(job).unwrap_or_default().iter().map(|rule| (rule.id, rule.version)).collect()
}

fn has_key(set: &LimitSet, job: &CachedJob) -> bool {
    set.of_job(job).unwrap_or_default().iter().any(|rule| !rule.key_path.is_empty())
}

fn needs(set: &LimitSet, job: &CachedJob, params: &str) -> Needs {
    let Some(rules) = set.of_job(job) else {
        return Needs::Unknown;
    };
    let slot = |rule: &&store::LimitRule| SlotKey { limit_id: rule.id, key: slot_key(&rule.key_path, params) };
    let slots: Vec<SlotKey> = rules.iter().map(slot).collect();
    if slots.is_empty() { Needs::Nothing } else { Needs::Slots(slots.into()) }
}
