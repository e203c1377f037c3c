//! One action for many runs.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_accounts::secret::hash;
use carillon_scheduler::{AuditObjectKind, Cause, Outcome, Parts, RunState};
use carillon_store::run::trigger::NewTrigger;
use carillon_store::{Actor, AuditObject, RunFilter, RunParams, RunView, TargetJob};
use foldhash::{HashMap, HashMapExt as _};
use futures_util::{StreamExt as _, stream};

use crate::engine::Engine;
use crate::manage::bulk::{Bulk, BulkAction, MOST_SELECTED, SLICE, without_job};
use crate::manage::entry_points::Runs;
use crate::manage::error::Error;
use crate::manage::jobs::{repeated_params, repeated_parts};
use crate::manage::run_killer::KillResult;

/// What is done with each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunAction {
    Kill,
    /// A run of its job with the parameters that it was given. A fire of several parts or attempts is run again once.
    Rerun {
        cause: Cause,
        /// Also runs that were run again already, of a filter.
        repeated: bool,
    },
    Resolve {
        outcome: Outcome,
        note: String,
    },
}

/// Executors that are asked at the same time.
const KILLS: usize = 8;

impl BulkAction for RunAction {
    type Filter = RunFilter;

    fn starts_runs(&self) -> bool {
        matches!(self, Self::Rerun { .. })
    }

    async fn check(self, _: &Engine, _: &Actor) -> Result<Self, Error> {
        if let Self::Resolve { note, .. } = &self {
            Runs::check_note(note).map_err(|error| Error::Invalid(vec![error]))?;
        }
        Ok(self)
    }

    /// What is run again is the last attempt alone, and what no later run repeats.
    async fn matching(&self, engine: &Engine, filter: &RunFilter, by: &Actor) -> Result<Vec<i64>, Error> {
        let is_last_attempt = matches!(self, Self::Rerun { .. });
        let is_not_rerun = matches!(self, Self::Rerun { repeated: false, .. });
        let apps = by.grants.visible_apps();
        let filter = RunFilter { apps, is_last_attempt, is_not_rerun, ..filter.clone() };
        Ok(engine.cx.store.runs().ids_of(&filter, MOST_SELECTED + 1).await?)
    }

    async fn apply(&self, bulk: &mut Bulk<'_>, ids: &[i64]) -> Result<(), Error> {
        let mut fires = HashMap::new();
        for slice in ids.chunks(SLICE) {
            let mut run_ids = Vec::with_capacity(slice.len());
            for id in slice {
                run_ids.push(bulk.engine.runs().run_id_of(*id).await?);
            }
            let slice = &run_ids[..];
            let mut runs = bulk.engine.cx.store.runs().with_ids(slice).await?;
            let apps = runs.iter().map(|(app_id, run)| (run.id, *app_id)).collect();
            let permitted = bulk.permitted(slice, &apps, (Action::Operate, AuditObjectKind::Run));
            let permitted: BTreeSet<i64> = permitted.into_iter().collect();
            runs.retain(|(_, run)| permitted.contains(&run.id));
            let runs = runs.into_iter().map(|(_, run)| run).collect();
            match self {
                Self::Kill => bulk.kill_each(runs).await?,
                Self::Rerun { cause, repeated } => {
                    let runs = bulk.once_for_each_fire(runs, &mut fires);
                    let runs = bulk.startable(runs).await?;
                    let is_only_rerun = bulk.is_filtered && !repeated;
                    bulk.rerun_each(&runs, *cause, is_only_rerun).await?;
                }
                Self::Resolve { outcome, note } => bulk.resolve_each(runs, *outcome, note.trim()).await?,
            }
        }
        Ok(())
    }
}

impl Bulk<'_> {
    async fn kill_each(&mut self, runs: Vec<RunView>) -> Result<(), Error> {
        let (engine, by) = (self.engine, self.by);
        let kills = runs.iter().map(|run| async { (run.id, engine.killer.kill(run.id, Some(by)).await) });
        let mut kills = stream::iter(kills).buffer_unordered(KILLS);
        while let Some((id, killed)) = kills.next().await {
            match killed {
                Ok(KillResult::Cancelled | KillResult::Asked) => self.outcome.done += 1,
                Ok(KillResult::AlreadyEnded) => self.refuse(id, "the run has ended already"),
                Err(Error::Executor(why)) => self.refuse(id, format!("the run goes on: {why}")),
                Err(error @ Error::Store(_)) => return Err(error),
                Err(error) => self.refuse(id, error.to_string()),
            }
        }
        Ok(())
    }

    /// Of each fire the first run that has ended. The others are refused.
    fn once_for_each_fire(&mut self, runs: Vec<RunView>, fires: &mut HashMap<(i64, Cause, i64), i64>) -> Vec<RunView> {
        let mut once = vec![];
        for run in runs {
            if run.state.is_pending() {
                self.refuse(run.id, format!("the run has not ended; it is {}", run.state));
                continue;
            }
            let first = *fires.entry((run.job_id, run.cause, run.fire_no)).or_insert(run.id);
            match first == run.id {
                true => once.push(run),
                false => self.refuse(run.id, format!("run {first} of the same fire is run again")),
            }
        }
        once
    }

    /// A run keeps its app; its job may have moved since to one in which the actor may start nothing. Those runs are refused.
    async fn startable(&mut self, runs: Vec<RunView>) -> Result<Vec<(TargetJob, RunView)>, Error> {
        let jobs: Vec<i64> = runs.iter().map(|run| run.job_id).collect();
        let apps = self.engine.cx.store.retention().apps_of(&jobs).await?;
        let mut startable = Vec::with_capacity(runs.len());
        for run in runs {
            let Some(app) = apps.get(&run.job_id).copied() else {
                self.refuse(run.id, without_job(run.job_id));
                continue;
            };
            let why = match policy::decide(self.by, Action::Operate, Object::App(app)) {
                Decision::Allowed => {
                    startable.push((TargetJob::of_app(run.job_id, app), run));
                    continue;
                }
                Decision::Forbidden => policy::refusal(Action::Operate, Object::App(app)),
                Decision::Hidden => without_job(run.job_id),
            };
            self.by.denials.add(AuditObject::job(run.job_id, app));
            self.refuse(run.id, why);
        }
        Ok(startable)
    }

    async fn rerun_each(
        &mut self,
        runs: &[(TargetJob, RunView)],
        cause: Cause,
        is_only_rerun: bool,
    ) -> Result<(), Error> {
        let store = &self.engine.cx.store;
        let views: Vec<&RunView> = runs.iter().map(|(_, run)| run).collect();
        let given = store.runs().params_of_each(&views).await?;
        let mut jobs = HashMap::new();
        for (target, _) in runs {
            if let Entry::Vacant(place) = jobs.entry(target.id) {
                place.insert(store.jobs().get(target.id).await?);
            }
        }
        let mut repeated = Vec::with_capacity(runs.len());
        for (target, run) in runs {
            let parts = store.runs().parts_to_repeat(run).await?;
            repeated.push(jobs[&target.id].as_ref().and_then(|now| repeated_parts(run, parts, now)));
        }
        let trigger = |(((job, run), given), parts): ((&(TargetJob, RunView), RunParams), Option<Parts>)| {
            // Also those that its job has now: the job may be edited before the run is sent. They are for the instant of the run.
            let params = jobs[&job.id].as_ref().and_then(|now| repeated_params(run, &given, now));
            let idempotency_key = self.key.map(|key| hash(&format!("rerun {} {key}", run.id)));
            let rerun_of = Some(run.id);
            NewTrigger {
                job: *job,
                cause,
                params,
                parts,
                address: None,
                priority: None,
                idempotency_key,
                traceparent: None,
                rerun_of,
                is_only_rerun,
            }
        };
        let triggers: Vec<NewTrigger> = runs.iter().zip(given).zip(repeated).map(trigger).collect();
        self.start_each(&triggers).await
    }

    async fn resolve_each(&mut self, runs: Vec<RunView>, result: Outcome, note: &str) -> Result<(), Error> {
        let mut open = vec![];
        for run in runs {
            match run.state {
                RunState::Unknown | RunState::Lost => open.push(run.id),
                state => self.refuse(run.id, Error::NotOpen(state).to_string()),
            }
        }
        let changed = self.engine.runs().settle_by_hand(&open, result, note, self.by).await?;
        for id in open {
            match changed.contains(&id) {
                true => self.outcome.done += 1,
                // A report came first, or another person.
                false => self.refuse(id, "its outcome was reported at this moment"),
            }
        }
        Ok(())
    }
}
