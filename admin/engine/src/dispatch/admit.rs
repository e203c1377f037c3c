//! Runs of jobs that do not allow their fires to overlap. Only the holder of a shard marks runs of its jobs, and the holder
//! before it marks none that the new one has adopted, so what is decided here holds for the whole cluster: a new holder
//! adopts all that is due soon before it decides anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use carillon_scheduler::run::overlap;
use carillon_scheduler::{Overlap, RunState};
use foldhash::{HashMap, HashMapExt as _, HashSet};
use tokio_util::task::TaskTracker;

use crate::context::Context;
use crate::dispatch::limits::gate::LimitGate;
use crate::dispatch::overlap_tracker::{FireId, OverlapTracker, POLL};
use crate::dispatch::stages::AdmittedRun;
use crate::job_cache::{CachedJob, JobsById};
use crate::manage::run_killer::RunKiller;
use crate::plan::due_queue::DueQueue;
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::adopt::ClaimedRun;
use carillon_store::run::open::overlapping::{OpenRun, Verdicts};

pub struct Admitter {
    pub cx: Arc<Context>,
    pub overlaps: Arc<OverlapTracker>,
    pub queue: Arc<DueQueue>,
    pub limits: Arc<LimitGate>,
    pub killer: Arc<RunKiller>,
    pub tasks: TaskTracker,
}

/// What was decided of the runs of a batch. It is written for all their jobs at once.
#[derive(Default)]
struct Decided {
    go: Vec<AdmittedRun>,
    cancel: Vec<ClaimedRun>,
    /// Runs that are open, and whose end is to be asked for.
    stop: Vec<i64>,
    verdicts: Verdicts,
}

impl Admitter {
    /// The run may go without a look at others of its job.
    pub fn is_free(&self, job: &CachedJob) -> bool {
        rule_of(job) == Overlap::Allow && !self.overlaps.has_parked(job.stored.job_id)
    }

    /// Those of the runs that may go now. The others wait in their rows, or are cancelled.
    pub async fn admit(&self, jobs: &JobsById, guarded: Vec<ClaimedRun>) -> Vec<AdmittedRun> {
        let mut by_job: HashMap<i64, Vec<ClaimedRun>> = HashMap::new();
        for run in guarded {
            by_job.entry(run.job_id).or_default().push(run);
        }
        if by_job.is_empty() {
            return vec![];
        }
        let mut decided = Decided::default();
        match self.open_runs_by_job(&by_job).await {
            Ok(mut others) => {
                for (job_id, due) in by_job {
                    if let Some(job) = jobs.get(&job_id) {
                        let others = others.remove(&job_id).unwrap_or_default();
                        self.decide(job, due, &others, &mut decided);
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "open runs could not be read; runs that must not overlap wait");
                by_job.into_values().flatten().for_each(|run| self.retry(run));
            }
        }
        self.write(decided).await
    }

    /// The run comes back with one of the next ticks.
    fn retry(&self, run: ClaimedRun) {
        let again_at = self.cx.clock.now() + self.cx.settings.retry_ms();
        self.queue.insert(run, again_at);
    }

    async fn write(&self, mut decided: Decided) -> Vec<AdmittedRun> {
        decided.verdicts.cancel = decided.cancel.iter().map(|run| run.run_id).collect();
        match self.cx.store.runs().write_overlaps(&decided.verdicts, self.cx.clock.now()).await {
            Ok(written) => {
                let state = RunState::Cancelled.as_str();
                self.cx.metrics.settled.with_label_values(&[state]).inc_by(written.cancelled);
                decided.cancel.retain(|run| written.held_up.contains(&run.run_id));
            }
            Err(error) => {
                tracing::warn!(%error, run.count = decided.cancel.len(), "runs that overlap could not be cancelled, nor noted as waiting, yet");
            }
        }
        decided.cancel.into_iter().for_each(|run| self.retry(run));
        self.end_open(decided.stop);
        decided.go
    }

    /// The open and waiting runs of these jobs.
    async fn open_runs_by_job(
        &self,
        by_job: &HashMap<i64, Vec<ClaimedRun>>,
    ) -> store::Result<HashMap<i64, Vec<OpenRun>>> {
        let mut by_shard: BTreeMap<i32, Vec<i64>> = BTreeMap::new();
        for (job_id, runs) in by_job {
            by_shard.entry(runs[0].shard).or_default().push(*job_id);
        }
        let mut found: HashMap<i64, Vec<OpenRun>> = HashMap::new();
        for (shard, job_ids) in by_shard {
            for other in self.cx.store.runs().open_runs_of(shard, &job_ids).await? {
                found.entry(other.job_id).or_default().push(other);
            }
        }
        Ok(found)
    }

    fn decide(&self, job: &Arc<CachedJob>, due: Vec<ClaimedRun>, others: &[OpenRun], decided: &mut Decided) {
        let (rule, job_id) = (rule_of(job), job.stored.job_id);
        let is_claimed = |run: &ClaimedRun| {
            others.iter().any(|other| other.run_id == run.run_id && other.state == RunState::Claimed)
        };
        // A run that was cancelled or taken over meanwhile is no longer ours to decide about.
        let mut runs = self.overlaps.take_parked(job_id, due);
        runs.retain(is_claimed);
        let open: HashSet<FireId> = others
            .iter()
            .filter(|other| matches!(other.state, RunState::Sending | RunState::Running))
            .map(|other| (other.cause, other.fire_no))
            .chain(self.overlaps.admitted_fires(job_id))
            .collect();
        let (of_open, runs): (Vec<_>, Vec<_>) =
            runs.into_iter().partition(|run| open.contains(&(run.cause, run.fire_no)));
        let fires = fires_of(runs);
        let ahead = if rule == Overlap::Wait { self.ahead_of(&fires, others) } else { 0 };
        let queue = usize::try_from(job.stored.overlap_queue).unwrap_or_default();
        let max = usize::try_from(job.stored.max_concurrent).unwrap_or(1).max(1);
        let mut decision = overlap::decide(rule, queue, (open.len() + ahead, max), fires.len());
        if rule == Overlap::Wait {
            self.keep_accepted(&fires, others, &mut decision);
        }
        let pick =
            |places: &[usize]| -> Vec<ClaimedRun> { places.iter().flat_map(|&place| fires[place].clone()).collect() };
        decided.cancel.extend(pick(&decision.cancel));
        decided.stop.extend(runs_of_earliest(others, decision.kill));
        let wait = pick(&decision.wait);
        let new = wait.iter().filter(|run| !is_noted(others, run));
        decided.verdicts.wait.extend(new.map(|run| run.run_id));
        self.park(job_id, wait, others);
        let chosen = pick(&decision.send);
        let waited = chosen.iter().filter(|run| is_noted(others, run));
        decided.verdicts.resume.extend(waited.map(|run| run.run_id));
        let same_fire = of_open.into_iter().map(|run| (run, None));
        let admitted = chosen.into_iter().map(|run| {
            let admission = self.overlaps.admit(&run);
            (run, Some(admission))
        });
        let go = same_fire.chain(admitted);
        decided.go.extend(go.map(|(run, admission)| AdmittedRun {
            run,
            job: job.clone(),
            admission,
            slots: None,
            turn: None,
        }));
    }

    /// What waits was accepted, and is not cancelled where fires that come back have taken the places before it.
    fn keep_accepted(&self, fires: &[Vec<ClaimedRun>], others: &[OpenRun], decision: &mut overlap::Decision) {
        let is_accepted =
            |place: &usize| fires[*place].iter().any(|run| is_noted(others, run) || self.limits.is_in_line(run.run_id));
        decision.wait.extend(decision.cancel.extract_if(.., |place| is_accepted(place)));
    }

    /// Fires that are due as well and wait elsewhere keep their turns: earlier ones, perhaps for an executor, and those that stand in the line
    /// of a limit.
    fn ahead_of(&self, fires: &[Vec<ClaimedRun>], others: &[OpenRun]) -> usize {
        let Some(first) = fires.first().map(|fire| &fire[0]) else {
            return 0;
        };
        let due = self.cx.clock.now() + ms(self.cx.settings.mark_ahead);
        let here: HashSet<FireId> = fires.iter().map(|fire| (fire[0].cause, fire[0].fire_no)).collect();
        let ahead = others.iter().filter(|other| {
            let is_earlier = (other.due_at, other.run_id) < (first.due_at, first.run_id);
            other.state == RunState::Claimed
                && other.due_at <= due
                && !here.contains(&(other.cause, other.fire_no))
                && (is_earlier || self.limits.is_in_line(other.run_id))
        });
        ahead.map(|other| (other.cause, other.fire_no)).collect::<HashSet<FireId>>().len()
    }

    /// Asks for the end of what is open, beside everything else.
    fn end_open(&self, running: Vec<i64>) {
        for run_id in running {
            let killer = self.killer.clone();
            self.tasks.spawn(async move {
                if let Err(error) = killer.kill(run_id, None).await {
                    tracing::warn!(run.id = run_id, %error, "a run that a later one replaces could not be asked to stop");
                }
            });
        }
    }

    /// These wait; the first of them is looked at again soon.
    fn park(&self, job_id: i64, runs: Vec<ClaimedRun>, others: &[OpenRun]) {
        let Some(first) = runs.first().cloned() else {
            return;
        };
        let blockers = others.iter().filter(|other| other.state != RunState::Claimed).map(|other| other.run_id);
        self.overlaps.park(job_id, runs, blockers);
        self.queue.insert(first, self.cx.clock.now() + ms(POLL));
    }
}

fn rule_of(job: &CachedJob) -> Overlap {
    job.rules.as_ref().map_or(Overlap::Allow, |rules| rules.overlap)
}

/// Its row says that it waits.
fn is_noted(others: &[OpenRun], run: &ClaimedRun) -> bool {
    others.iter().any(|other| other.run_id == run.run_id && other.waits)
}

/// The running runs of the earliest open fires, as many of them; those that are asked to end already are left out.
fn runs_of_earliest(others: &[OpenRun], fires: usize) -> Vec<i64> {
    let mut running: Vec<&OpenRun> = others.iter().filter(|other| other.state == RunState::Running).collect();
    running.sort_unstable_by_key(|other| (other.due_at, other.run_id));
    let mut earliest: Vec<FireId> = vec![];
    for other in &running {
        let fire = (other.cause, other.fire_no);
        if earliest.len() < fires && !earliest.contains(&fire) {
            earliest.push(fire);
        }
    }
    running.retain(|other| !other.kill_asked && earliest.contains(&(other.cause, other.fire_no)));
    running.iter().map(|other| other.run_id).collect()
}

/// The runs of each fire, earliest fire first.
fn fires_of(mut runs: Vec<ClaimedRun>) -> Vec<Vec<ClaimedRun>> {
    runs.sort_unstable_by_key(|run| (run.due_at, run.run_id));
    let mut fires: Vec<Vec<ClaimedRun>> = Vec::new();
    for run in runs {
        let same = |fire: &&mut Vec<ClaimedRun>| (fire[0].cause, fire[0].fire_no) == (run.cause, run.fire_no);
        match fires.iter_mut().find(same) {
            Some(fire) => fire.push(run),
            None => fires.push(vec![run]),
        }
    }
    fires
}
