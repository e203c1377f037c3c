//! One action for many runs.

use std::collections::BTreeSet;

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_accounts::secret::hash;
use carillon_scheduler::{AuditObjectKind, Cause, Outcome, RunState};
use carillon_store::run::trigger::NewTrigger;
use carillon_store::{Actor, AuditObject, RunFilter, RunParams, RunView, TargetJob};
use foldhash::{HashMap, HashMapExt as _};
use futures_util::{StreamExt as _, stream};

use crate::executor::run_killer::KillResult;
use crate::manage::error::Error;
use crate::manage::runs::Runs;
use crate::manage::selection::{BulkOutcome, MOST_SELECTED, SLICE, Selection, check_count};

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

/// A request for many runs.
pub struct RunBulkRequest<'a> {
    pub selection: &'a Selection<RunFilter>,
    pub action: RunAction,
    /// How many runs the caller has seen and confirmed; None: it does not matter.
    pub expected: Option<usize>,
    /// A repeated request with the same key runs each run again once.
    pub idempotency_key: Option<&'a str>,
}

/// Executors that are asked at the same time.
const KILLS: usize = 8;

impl Runs<'_> {
    /// The runs of a selection, at most one more than [`MOST_SELECTED`]. Those that the actor does not see are not among a
    /// filter's. What is run again is the last attempt alone, and what no later run repeats.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn selected(
        &self,
        selection: &Selection<RunFilter>,
        action: &RunAction,
        by: &Actor,
    ) -> Result<Vec<i64>, Error> {
        Ok(match selection {
            Selection::Ids(ids) => ids.iter().copied().collect::<BTreeSet<_>>().into_iter().collect(),
            Selection::Filter(filter) => {
                let is_last_attempt = matches!(action, RunAction::Rerun { .. });
                let is_not_rerun = matches!(action, RunAction::Rerun { repeated: false, .. });
                let apps = by.grants.visible_apps();
                let filter = RunFilter { apps, is_last_attempt, is_not_rerun, ..filter.clone() };
                self.engine.cx.store.runs().ids_of(&filter, MOST_SELECTED + 1).await?
            }
        })
    }

    /// Does something with each selected run for which the actor may do it, and says why it did not with the others.
    ///
    /// # Errors
    /// `Invalid`: the note, too many runs; `Changed`: another number of runs
    pub async fn do_with_all(&self, request: RunBulkRequest<'_>, by: &Actor) -> Result<BulkOutcome, Error> {
        if let RunAction::Resolve { note, .. } = &request.action {
            Self::check_note(note).map_err(|error| Error::Invalid(vec![error]))?;
        }
        let _place = self.engine.costly.enter(by).await?;
        let ids = self.selected(request.selection, &request.action, by).await?;
        check_count(ids.len(), request.expected)?;
        if matches!(request.action, RunAction::Rerun { .. }) {
            self.engine.costly.count_runs(ids.len(), by)?;
        }
        let mut outcome = BulkOutcome::new(ids.len());
        let mut fires = HashMap::new();
        for slice in ids.chunks(SLICE) {
            let runs = self.engine.cx.store.runs().with_ids(slice).await?;
            let apps = runs.iter().map(|(app_id, run)| (run.id, *app_id)).collect();
            let permitted = outcome.permitted(slice, &apps, (by, Action::Operate, AuditObjectKind::Run));
            let permitted: BTreeSet<i64> = permitted.into_iter().collect();
            let runs = runs.into_iter().filter(|(_, run)| permitted.contains(&run.id));
            let runs: Vec<(i64, RunView)> = runs.collect();
            match &request.action {
                RunAction::Kill => self.kill_each(&runs, by, &mut outcome).await?,
                RunAction::Rerun { cause, .. } => {
                    let runs = once_for_each_fire(runs, &mut fires, &mut outcome);
                    let runs = self.startable(runs, by, &mut outcome).await?;
                    self.rerun_each(&runs, *cause, request.idempotency_key, by, &mut outcome).await?;
                }
                RunAction::Resolve { outcome: result, note } => {
                    self.resolve_each(&runs, *result, note.trim(), by, &mut outcome).await?;
                }
            }
        }
        Ok(outcome.finish())
    }

    async fn kill_each(&self, runs: &[(i64, RunView)], by: &Actor, outcome: &mut BulkOutcome) -> Result<(), Error> {
        let kills = runs.iter().map(|(_, run)| async { (run.id, self.engine.killer.kill(run.id, Some(by)).await) });
        let mut kills = stream::iter(kills).buffer_unordered(KILLS);
        while let Some((id, killed)) = kills.next().await {
            match killed {
                Ok(KillResult::Cancelled | KillResult::Asked) => outcome.done += 1,
                Ok(KillResult::AlreadyEnded) => outcome.refuse(id, "the run has ended already"),
                Err(Error::Executor(why)) => outcome.refuse(id, format!("the run goes on: {why}")),
                Err(error @ Error::Store(_)) => return Err(error),
                Err(error) => outcome.refuse(id, error.to_string()),
            }
        }
        Ok(())
    }

    /// A run keeps its app; its job may have moved since to one in which the actor may start nothing. Those runs are refused.
    async fn startable(
        &self,
        runs: Vec<RunView>,
        by: &Actor,
        outcome: &mut BulkOutcome,
    ) -> Result<Vec<(TargetJob, RunView)>, Error> {
        let jobs: Vec<i64> = runs.iter().map(|run| run.job_id).collect();
        let apps = self.engine.cx.store.retention().apps_of(&jobs).await?;
        let mut startable = Vec::with_capacity(runs.len());
        for run in runs {
            let Some(app) = apps.get(&run.job_id).copied() else {
                outcome.refuse(run.id, without_job(&run));
                continue;
            };
            let why = match policy::decide(by, Action::Operate, Object::App(app)) {
                Decision::Allowed => {
                    startable.push((TargetJob::of_app(run.job_id, app), run));
                    continue;
                }
                Decision::Forbidden => policy::refusal(Action::Operate, Object::App(app)),
                Decision::Hidden => without_job(&run),
            };
            by.denials.add(AuditObject::job(run.job_id, app));
            outcome.refuse(run.id, why);
        }
        Ok(startable)
    }

    async fn rerun_each(
        &self,
        runs: &[(TargetJob, RunView)],
        cause: Cause,
        key: Option<&str>,
        by: &Actor,
        outcome: &mut BulkOutcome,
    ) -> Result<(), Error> {
        let store = &self.engine.cx.store;
        let views: Vec<&RunView> = runs.iter().map(|(_, run)| run).collect();
        let given = store.runs().params_of_each(&views).await?;
        let trigger = |((job, run), given): (&(TargetJob, RunView), RunParams)| {
            // Also those that its job has now: the job may be edited before the run is sent.
            let params = given.text().map(str::to_owned);
            let idempotency_key = key.map(|key| hash(&format!("rerun {} {key}", run.id)));
            NewTrigger { job: *job, cause, params, address: None, idempotency_key, rerun_of: Some(run.id) }
        };
        let triggers: Vec<NewTrigger> = runs.iter().zip(given).map(trigger).collect();
        let made = store.runs().insert_triggered_all(&triggers, self.engine.cx.clock.now(), by).await?;
        for ((_, run), made) in runs.iter().zip(made) {
            match made {
                Some(made) => {
                    outcome.done += 1;
                    self.engine.job_changed(made.shard);
                }
                None => outcome.refuse(run.id, without_job(run)),
            }
        }
        Ok(())
    }

    async fn resolve_each(
        &self,
        runs: &[(i64, RunView)],
        result: Outcome,
        note: &str,
        by: &Actor,
        outcome: &mut BulkOutcome,
    ) -> Result<(), Error> {
        let mut open = vec![];
        for (_, run) in runs {
            match run.state {
                RunState::Unknown | RunState::Lost => open.push(run.id),
                state => outcome.refuse(run.id, Error::NotOpen(state).to_string()),
            }
        }
        let changed = self.settle_by_hand(&open, result, note, by).await?;
        for id in open {
            match changed.contains(&id) {
                true => outcome.done += 1,
                // A report came first, or another person.
                false => outcome.refuse(id, "its outcome was reported at this moment"),
            }
        }
        Ok(())
    }
}

/// Also of a job that the actor may not know.
fn without_job(run: &RunView) -> String {
    format!("its job {} is deleted", run.job_id)
}

/// Of each fire the first run that has ended. The others are refused.
fn once_for_each_fire(
    runs: Vec<(i64, RunView)>,
    fires: &mut HashMap<(i64, Cause, i64), i64>,
    outcome: &mut BulkOutcome,
) -> Vec<RunView> {
    let mut once = vec![];
    for (_, run) in runs {
        if run.state.is_pending() {
            outcome.refuse(run.id, format!("the run has not ended; it is {}", run.state));
            continue;
        }
        let first = *fires.entry((run.job_id, run.cause, run.fire_no)).or_insert(run.id);
        match first == run.id {
            true => once.push(run),
            false => outcome.refuse(run.id, format!("run {first} of the same fire is run again")),
        }
    }
    once
}
