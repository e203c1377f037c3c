//! Route, mark, send. The mark is committed before the first byte leaves; nothing leaves before it is due.

use crate::dispatch::admit;
use crate::dispatch::broadcast;
use crate::dispatch::order;
use crate::dispatch::probe;
use crate::dispatch::send;
use crate::dispatch::trace;
use std::collections::HashSet;
use std::sync::Arc;

use carillon_scheduler::{RouteStrategy, RunEvent};

use crate::Pipeline;
use crate::dispatch::probe::Answered;
use crate::dispatch::route::router::{Routed, Verdict};
use crate::dispatch::route::saturated_apps::Crowd;
use crate::dispatch::route::{memory, open_counts};
use crate::failpoint;
use crate::plan::job_cache;
use crate::settings::ms;
use crate::store::run::adopt::Waiting;
use crate::store::run::mark::Mark;
use crate::store::run::route::Story;
use crate::store::run::settle::outcomes::Finding;

/// Runs of one mark.
const BATCH: usize = 500;

/// Sends what can be sent and puts the rest back into the ring, or ends it with its reason.
pub async fn dispatch(pipeline: &Arc<Pipeline>, due: Vec<Waiting>) {
    let due = still_ours(pipeline, due);
    let ids: HashSet<i64> = due.iter().map(|run| run.job_id).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let known = async {
        let jobs = pipeline.jobs.current(&pipeline.store, &ids).await?;
        memory::recall(pipeline, &jobs, &due).await?;
        open_counts::count(pipeline, &jobs).await?;
        Ok::<_, crate::store::Error>(jobs)
    };
    let jobs = match known.await {
        Ok(jobs) => jobs,
        Err(error) => {
            tracing::warn!(%error, run.count = due.len(), "definitions could not be read; the runs wait");
            return due.into_iter().for_each(|run| wait(pipeline, run));
        }
    };
    let (free, guarded) = admit::split(pipeline, &jobs, due);
    let mut crowd = Crowd::default();
    let mut route = |runs: Vec<Waiting>| -> Vec<(Waiting, Verdict)> {
        let verdicts = runs.into_iter().map(|run| {
            let verdict = crowd.route(pipeline, &jobs, &run);
            (run, verdict)
        });
        verdicts.collect()
    };
    // What needs nothing but its mark goes first: it does not wait for what others need of the database.
    let mut later = follow(pipeline, route(free).into_iter()).await;
    let admitted = admit::admit(pipeline, &jobs, guarded).await;
    later.extend(follow(pipeline, route(admitted).into_iter()).await);
    later.work(pipeline).await;
}

/// What a batch leaves to be done after its marks.
#[derive(Default)]
struct Later {
    /// Broadcasts, and their executors.
    broadcasts: Vec<(Waiting, Vec<String>)>,
    notes: trace::Notes,
}

impl Later {
    fn extend(&mut self, other: Self) {
        self.broadcasts.extend(other.broadcasts);
        self.notes.extend(other.notes);
    }

    async fn work(self, pipeline: &Arc<Pipeline>) {
        for (run, addresses) in self.broadcasts {
            broadcast::spawn(pipeline, run, addresses);
        }
        self.notes.write(pipeline).await;
    }
}

/// What has come back from probes: as what is due, but its candidates are in their order already. A definition that was
/// edited while they were asked decides nothing any more.
pub(crate) async fn answered(pipeline: &Arc<Pipeline>, mut answered: Vec<Answered>) {
    let now = pipeline.clock.monotonic();
    answered.retain(|Answered { run, .. }| {
        let is_ours = pipeline.holdings.marking_epoch(run.shard, now) == Some(run.epoch);
        if !is_ours {
            pipeline.overlaps.has_not_gone(run);
        }
        is_ours
    });
    let asked_by = answered.iter().map(|answered| &answered.job);
    let outdated = match job_cache::outdated(&pipeline.store, asked_by).await {
        Ok(outdated) if !pipeline.clock_is_in_doubt() => outdated,
        Ok(_) => return answered.into_iter().for_each(|it| wait(pipeline, it.run)),
        Err(error) => {
            tracing::warn!(%error, run.count = answered.len(), "definitions could not be read; the runs wait");
            return answered.into_iter().for_each(|it| wait(pipeline, it.run));
        }
    };
    let mut verdicts = Vec::with_capacity(answered.len());
    for Answered { run, job, verdict } in answered {
        if outdated.contains(&job.version()) {
            wait(pipeline, run);
        } else {
            verdicts.push((run, verdict));
        }
    }
    let later = follow(pipeline, verdicts.into_iter()).await;
    later.work(pipeline).await;
}

async fn follow(pipeline: &Arc<Pipeline>, verdicts: impl Iterator<Item = (Waiting, Verdict)>) -> Later {
    let mut later = Later::default();
    let mut routed = Vec::with_capacity(verdicts.size_hint().0);
    for (run, verdict) in verdicts {
        match verdict {
            Verdict::Send(candidates, place, choice) => routed.push(Routed { run, candidates, place, choice }),
            Verdict::Ask(question) => probe::spawn(pipeline, *question),
            Verdict::Expand(addresses) => later.broadcasts.push((run, addresses)),
            Verdict::Wait | Verdict::Full => wait(pipeline, run),
            Verdict::WaitFor(pause) => {
                pipeline.overlaps.has_not_gone(&run);
                pipeline.put_in_ring(run, pipeline.clock.now() + pause);
            }
            Verdict::NoExecutor(message, story) => no_executor(pipeline, &run, message, &story),
        }
    }
    for routed in &routed {
        later.notes.add(routed.run.job_id, &routed.candidates[0].address, &routed.choice);
    }
    order::small_apps_first(&mut routed, |routed| &routed.choice.job.stored.app);
    let mut routed = routed.into_iter().peekable();
    while routed.peek().is_some() {
        let batch: Vec<Routed> = routed.by_ref().take(BATCH).collect();
        mark(pipeline, batch).await;
    }
    later
}

/// A shard that was lost takes its entries with it: the rows are there for its next holder. That may be this node under the
/// same epoch, if a claim on its way renews a lease that was not trusted for a moment.
fn still_ours(pipeline: &Pipeline, due: Vec<Waiting>) -> Vec<Waiting> {
    let now = pipeline.clock.monotonic();
    let is_ours = |run: &Waiting| pipeline.holdings.marking_epoch(run.shard, now) == Some(run.epoch);
    let (ours, dropped): (Vec<_>, Vec<_>) = due.into_iter().partition(is_ours);
    let shards: HashSet<i32> = dropped.iter().map(|run| run.shard).collect();
    shards.into_iter().for_each(|shard| pipeline.read_again(shard));
    ours
}

pub(crate) fn wait(pipeline: &Pipeline, run: Waiting) {
    pipeline.overlaps.has_not_gone(&run);
    let again_at = pipeline.clock.now() + ms(pipeline.settings.tick_every + pipeline.settings.mark_ahead);
    pipeline.put_in_ring(run, again_at);
}

fn no_executor(pipeline: &Pipeline, run: &Waiting, message: String, story: &Story) {
    pipeline.overlaps.has_not_gone(run);
    if *story != Story::default() {
        pipeline.stories.add(run.run_id, story);
    }
    pipeline.outcomes.found(Finding {
        run_id: run.run_id,
        event: RunEvent::NoExecutor,
        code: None,
        message: Some(message),
        reason: Some("no_executor"),
        sent_at: None,
    });
}

async fn mark(pipeline: &Arc<Pipeline>, batch: Vec<Routed>) {
    let token: i64 = rand::random();
    let asked = pipeline.clock.monotonic();
    let marked_at = pipeline.clock.now();
    let marks: Vec<Mark<'_>> = batch.iter().map(Routed::mark).collect();
    let won = match pipeline.store.mark(&marks, token, &pipeline.node, marked_at).await {
        Ok(won) => won,
        Err(error) => {
            // The answer may have been lost: what did get marked must be given back before it can be marked again.
            tracing::warn!(%error, run.count = batch.len(), "runs could not be marked; they wait");
            return batch.into_iter().for_each(|routed| pipeline.given_back.add(routed.run, token));
        }
    };
    failpoint::hit("after_mark_commit");
    for routed in &batch {
        // The mark shows it to everybody, or somebody else has it.
        pipeline.overlaps.has_not_gone(&routed.run);
    }
    let marked = send::Marked { token, marked_at, asked };
    let won = batch.into_iter().filter(|routed| won.contains(&routed.run.run_id));
    send_won(pipeline, won.collect(), marked).await;
}

/// Looked at after the mark: a run whose job has been edited since it was routed goes back, and is routed by the new
/// definition. So the revision that its mark has noted is the one of its request.
async fn send_won(pipeline: &Arc<Pipeline>, batch: Vec<Routed>, marked: send::Marked) {
    let give_back = |routed: Routed| pipeline.given_back.add(routed.run, marked.token);
    let read = async {
        let routed_by = batch.iter().map(|routed| &routed.choice.job);
        let outdated = job_cache::outdated(&pipeline.store, routed_by).await?;
        let routed_by = batch.iter().map(|routed| &routed.choice.job);
        let whole = job_cache::whole(&pipeline.store, routed_by).await?;
        let params = given_params(pipeline, &batch).await?;
        Ok::<_, crate::store::Error>((outdated, whole, params))
    };
    match read.await {
        Ok((outdated, whole, params)) => {
            let mut batch = batch;
            for routed in &mut batch {
                let version = routed.choice.job.version();
                let whole = whole.get(&version.0);
                if let Some(job) = whole.filter(|job| job.version() == version) {
                    routed.choice.job = job.clone();
                }
            }
            // Edited before this look at the revisions, or between it and the look at the parameters.
            let is_outdated = |routed: &mut Routed| {
                let job = &routed.choice.job;
                outdated.contains(&job.version()) || job.params_are_apart()
            };
            batch.extract_if(.., is_outdated).for_each(give_back);
            send::spawn(pipeline, batch, marked, params);
        }
        Err(error) => {
            tracing::warn!(%error, run.count = batch.len(), "definitions could not be read; the runs go back");
            batch.into_iter().for_each(give_back);
        }
    }
}

/// Only fires by hand have parameters of their own, and the later attempts and parts that come from them.
async fn given_params(pipeline: &Pipeline, batch: &[Routed]) -> crate::store::Result<Vec<(i64, String)>> {
    let runs = batch.iter().map(|routed| &routed.run);
    let given = runs.filter(|run| run.cause != carillon_scheduler::Cause::Schedule);
    let given: Vec<i64> = given.map(|run| run.run_id).collect();
    if given.is_empty() {
        return Ok(vec![]);
    }
    pipeline.store.given_params(&given).await
}

/// A run of a broadcast job whose executors are not fixed yet.
pub(crate) fn is_unexpanded(route: RouteStrategy, run: &Waiting) -> bool {
    route == RouteStrategy::Broadcast && run.attempt == 1 && run.bound_to.is_none()
}
