//! Runs of jobs that do not allow their fires to overlap. Only the holder of a shard marks runs of its jobs, and the holder
//! before it marks none that the new one has adopted, so what is decided here holds for the whole cluster: a new holder
//! adopts all that is due soon before it decides anything.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use carillon_scheduler::run::overlap;
use carillon_scheduler::{Overlap, RunState};

use crate::Pipeline;
use crate::dispatch::overlap_tracker::{FireNo, POLL};
use crate::plan::job_cache::{ById, Job};
use crate::settings::ms;
use crate::store;
use crate::store::run::adopt::Waiting;
use crate::store::run::open::overlapping::{Other, Verdicts};

/// Runs that need not look at others of their job, and those that do.
pub fn split(pipeline: &Pipeline, jobs: &ById, due: Vec<Waiting>) -> (Vec<Waiting>, Vec<Waiting>) {
    due.into_iter()
        .partition(|run| rule_of(jobs.get(&run.job_id)) == Overlap::Allow && !pipeline.overlaps.has(run.job_id))
}

/// Those of the runs that may go now. The others wait in their rows, or are cancelled.
pub async fn admit(pipeline: &Arc<Pipeline>, jobs: &ById, guarded: Vec<Waiting>) -> Vec<Waiting> {
    let mut by_job: HashMap<i64, Vec<Waiting>> = HashMap::new();
    for run in guarded {
        by_job.entry(run.job_id).or_default().push(run);
    }
    let mut decided = Decided::default();
    if by_job.is_empty() {
        return decided.go;
    }
    match surroundings(pipeline, &by_job).await {
        Ok(mut others) => {
            for (job_id, due) in by_job {
                let Some(job) = jobs.get(&job_id) else {
                    // Deleted, and its runs with it.
                    continue;
                };
                let others = others.remove(&job_id).unwrap_or_default();
                of_job(pipeline, job, due, &others, &mut decided);
            }
        }
        Err(error) => {
            tracing::warn!(%error, "open runs could not be read; runs that must not overlap wait");
            by_job.into_values().flatten().for_each(|run| crate::dispatch::dispatcher::wait(pipeline, run));
        }
    }
    decided.write(pipeline).await
}

/// What was decided of the runs of a batch. It is written for all their jobs at once.
#[derive(Default)]
struct Decided {
    go: Vec<Waiting>,
    cancel: Vec<Waiting>,
    /// Runs that are open, and whose end is to be asked for.
    stop: Vec<i64>,
    verdicts: Verdicts,
}

impl Decided {
    async fn write(mut self, pipeline: &Arc<Pipeline>) -> Vec<Waiting> {
        self.verdicts.cancel = self.cancel.iter().map(|run| run.run_id).collect();
        let now = pipeline.clock.now();
        match pipeline.store.write_overlaps(&self.verdicts, now).await {
            Ok(written) => {
                let state = RunState::Cancelled.as_str();
                let settled = pipeline.metrics.settled.with_label_values(&[state]);
                settled.inc_by(written.cancelled);
                self.cancel.retain(|run| written.held_up.contains(&run.run_id));
            }
            Err(error) => {
                tracing::warn!(%error, run.count = self.cancel.len(), "runs that overlap could not be cancelled, nor noted as waiting, yet");
            }
        }
        for run in self.cancel {
            crate::dispatch::dispatcher::wait(pipeline, run);
        }
        stop(pipeline, self.stop);
        self.go
    }
}

fn rule_of(job: Option<&Arc<Job>>) -> Overlap {
    job.and_then(|job| job.rules.as_ref().ok()).map_or(Overlap::Allow, |rules| rules.overlap)
}

/// The open and waiting runs of these jobs.
async fn surroundings(
    pipeline: &Pipeline,
    by_job: &HashMap<i64, Vec<Waiting>>,
) -> store::Result<HashMap<i64, Vec<Other>>> {
    let mut by_shard: BTreeMap<i32, Vec<i64>> = BTreeMap::new();
    for (job_id, runs) in by_job {
        by_shard.entry(runs[0].shard).or_default().push(*job_id);
    }
    let mut found: HashMap<i64, Vec<Other>> = HashMap::new();
    for (shard, job_ids) in by_shard {
        for other in pipeline.store.open_runs_of(shard, &job_ids).await? {
            found.entry(other.job_id).or_default().push(other);
        }
    }
    Ok(found)
}

fn of_job(pipeline: &Pipeline, job: &Job, due: Vec<Waiting>, others: &[Other], decided: &mut Decided) {
    let rule = job.rules.as_ref().map_or(Overlap::Allow, |rules| rules.overlap);
    let is_claimed =
        |run: &Waiting| others.iter().any(|other| other.run_id == run.run_id && other.state == RunState::Claimed);
    // Whatever was cancelled or taken over meanwhile is no longer ours to decide about.
    let mut runs = pipeline.overlaps.join(job.stored.job_id, due);
    runs.retain(is_claimed);
    let going = pipeline.overlaps.going(job.stored.job_id, pipeline.clock.monotonic());
    let open: HashSet<FireNo> = others
        .iter()
        .filter(|other| matches!(other.state, RunState::Sending | RunState::Running))
        .map(|other| (other.cause, other.fire_no))
        .chain(going)
        .collect();
    let (go, runs): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| open.contains(&(run.cause, run.fire_no)));
    let fires = fires_of(runs);
    let is_open = !open.is_empty() || rule == Overlap::Wait && is_one_ahead(pipeline, &fires, others);
    let queue = usize::try_from(job.stored.overlap_queue).unwrap_or_default();
    let decision = overlap::decide(rule, queue, is_open, fires.len());
    let pick = |places: &[usize]| -> Vec<Waiting> { places.iter().flat_map(|&place| fires[place].clone()).collect() };
    decided.go.extend(go);
    decided.cancel.extend(pick(&decision.cancel));
    if decision.kill_open {
        let running = others.iter().filter(|other| other.state == RunState::Running && !other.kill_asked);
        decided.stop.extend(running.map(|other| other.run_id));
    }
    let wait = pick(&decision.wait);
    let new = wait.iter().filter(|run| !is_noted(others, run));
    decided.verdicts.wait.extend(new.map(|run| run.run_id));
    keep(pipeline, job.stored.job_id, wait, others);
    let chosen = pick(&decision.send);
    pipeline.overlaps.goes(&chosen, pipeline.clock.monotonic());
    let waited = chosen.iter().filter(|run| is_noted(others, run));
    decided.verdicts.resume.extend(waited.map(|run| run.run_id));
    decided.go.extend(chosen);
}

/// Its row says that it waits.
fn is_noted(others: &[Other], run: &Waiting) -> bool {
    others.iter().any(|other| other.run_id == run.run_id && other.waits)
}

/// The runs of each fire, earliest fire first.
fn fires_of(mut runs: Vec<Waiting>) -> Vec<Vec<Waiting>> {
    runs.sort_unstable_by_key(|run| (run.due_at, run.run_id));
    let mut fires: Vec<Vec<Waiting>> = Vec::new();
    for run in runs {
        let same = |fire: &&mut Vec<Waiting>| (fire[0].cause, fire[0].fire_no) == (run.cause, run.fire_no);
        match fires.iter_mut().find(same) {
            Some(fire) => fire.push(run),
            None => fires.push(vec![run]),
        }
    }
    fires
}

/// An earlier run is due as well and waits elsewhere, perhaps for an executor: it keeps its turn.
fn is_one_ahead(pipeline: &Pipeline, fires: &[Vec<Waiting>], others: &[Other]) -> bool {
    let Some(first) = fires.first().map(|fire| &fire[0]) else {
        return false;
    };
    let due = pipeline.clock.now() + ms(pipeline.settings.mark_ahead);
    others.iter().any(|other| {
        other.state == RunState::Claimed
            && other.due_at <= due
            && (other.due_at, other.run_id) < (first.due_at, first.run_id)
            && (other.cause, other.fire_no) != (first.cause, first.fire_no)
    })
}

/// Asks for the end of what is open, beside everything else.
fn stop(pipeline: &Arc<Pipeline>, running: Vec<i64>) {
    for run_id in running {
        let asking = pipeline.clone();
        pipeline.sends.spawn(async move {
            if let Err(error) = asking.kill(run_id).await {
                tracing::warn!(run.id = run_id, %error, "a run that a later one replaces could not be asked to stop");
            }
        });
    }
}

/// These wait; the first of them is looked at again soon.
fn keep(pipeline: &Pipeline, job_id: i64, runs: Vec<Waiting>, others: &[Other]) {
    let Some(first) = runs.first().cloned() else {
        return;
    };
    let blockers = others.iter().filter(|other| other.state != RunState::Claimed).map(|other| other.run_id);
    pipeline.overlaps.keep(job_id, runs, blockers);
    pipeline.put_in_ring(first, pipeline.clock.now() + ms(POLL));
}
