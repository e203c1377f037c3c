//! Route, mark, send. The mark is committed before the first byte leaves; nothing leaves before it is due.

mod overlap;
mod route;
mod send;

use std::collections::HashSet;
use std::sync::Arc;

use carillon_scheduler::{RouteStrategy, RunEvent};

use self::route::{Routed, Verdict};
use super::Pipeline;
use super::jobs::ById;
use super::settings::ms;
use crate::store::adopt::Waiting;
use crate::store::mark::Mark;
use crate::store::settle::Finding;

/// Runs of one mark.
const BATCH: usize = 500;

/// Sends what can be sent and puts the rest back into the ring, or ends it with its reason.
pub async fn dispatch(pipeline: &Arc<Pipeline>, due: Vec<Waiting>) {
    let due = still_ours(pipeline, due);
    let ids: HashSet<i64> = due.iter().map(|run| run.job_id).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let jobs = match pipeline.jobs.recent(&pipeline.store, &ids).await {
        Ok(jobs) => jobs,
        Err(error) => {
            tracing::warn!(%error, runs = due.len(), "definitions could not be read; the runs wait");
            return due.into_iter().for_each(|run| wait(pipeline, run));
        }
    };
    let due = overlap::admit(pipeline, &jobs, due).await;
    let mut routed = Vec::with_capacity(due.len());
    for run in due {
        match route::route(pipeline, &jobs, &run) {
            Verdict::Send(candidates, place) => routed.push(Routed {
                run,
                candidates,
                place,
            }),
            Verdict::Expand(addresses) => expand(pipeline, run, &addresses).await,
            Verdict::Wait => wait(pipeline, run),
            Verdict::NoExecutor(message) => no_executor(pipeline, &run, message),
        }
    }
    let mut routed = routed.into_iter().peekable();
    while routed.peek().is_some() {
        let batch: Vec<Routed> = routed.by_ref().take(BATCH).collect();
        mark(pipeline, batch).await;
    }
}

/// A shard that was lost takes its entries with it: the rows are there for its next holder.
fn still_ours(pipeline: &Pipeline, due: Vec<Waiting>) -> Vec<Waiting> {
    let now = pipeline.clock.monotonic();
    due.into_iter()
        .filter(|run| pipeline.holdings.epoch(run.shard, now) == Some(run.epoch))
        .collect()
}

fn wait(pipeline: &Pipeline, run: Waiting) {
    pipeline.overlaps.has_not_gone(&run);
    let again_at =
        pipeline.clock.now() + ms(pipeline.settings.tick_every + pipeline.settings.mark_ahead);
    pipeline.put_in_ring(run, again_at);
}

fn no_executor(pipeline: &Pipeline, run: &Waiting, message: String) {
    pipeline.overlaps.has_not_gone(run);
    pipeline.outcomes.found(Finding {
        run_id: run.run_id,
        event: RunEvent::NoExecutor,
        code: None,
        message: Some(message),
        reason: Some("no_executor"),
        sent_at: None,
    });
}

/// A broadcast: its list of executors is fixed, and each part goes the ordinary way from there.
async fn expand(pipeline: &Arc<Pipeline>, run: Waiting, addresses: &[String]) {
    match pipeline.store.expand(&run, addresses, &pipeline.node).await {
        Ok(parts) => {
            for part in parts {
                let due_at = part.due_at;
                pipeline.put_in_ring(part, due_at);
            }
        }
        Err(error) => {
            tracing::warn!(%error, run.id = run.run_id, "a broadcast could not be expanded yet");
            wait(pipeline, run);
        }
    }
}

async fn mark(pipeline: &Arc<Pipeline>, batch: Vec<Routed>) {
    let token: i64 = rand::random();
    let asked = pipeline.clock.monotonic();
    let marked_at = pipeline.clock.now();
    let marks: Vec<Mark<'_>> = batch.iter().map(Routed::mark).collect();
    let won = match pipeline
        .store
        .mark(&marks, token, &pipeline.node, marked_at)
        .await
    {
        Ok(won) => won,
        Err(error) => {
            // The answer may have been lost: what did get marked must be given back before it can be marked again.
            tracing::warn!(%error, runs = batch.len(), "runs could not be marked; they wait");
            return batch
                .into_iter()
                .for_each(|routed| pipeline.outcomes.give_back(routed.run, token));
        }
    };
    for routed in &batch {
        // The mark shows it to everybody, or somebody else has it.
        pipeline.overlaps.has_not_gone(&routed.run);
    }
    let batch: Vec<Routed> = batch
        .into_iter()
        .filter(|routed| won.contains(&routed.run.run_id))
        .collect();
    let marked = send::Marked {
        token,
        marked_at,
        asked,
    };
    match definitions(pipeline, &batch).await {
        Ok((jobs, params)) => send::spawn(pipeline, batch, marked, &jobs, params),
        Err(error) => {
            tracing::warn!(%error, runs = batch.len(), "definitions could not be read; the runs go back");
            batch
                .into_iter()
                .for_each(|routed| pipeline.outcomes.give_back(routed.run, token));
        }
    }
}

/// Read after the mark: an edit that was answered before it must be what is sent.
async fn definitions(
    pipeline: &Pipeline,
    batch: &[Routed],
) -> crate::store::Result<(ById, Vec<(i64, String)>)> {
    let ids: HashSet<i64> = batch.iter().map(|routed| routed.run.job_id).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let jobs = pipeline.jobs.current(&pipeline.store, &ids).await?;
    // Only fires by hand have parameters of their own, and the later attempts and parts that come from them.
    let given: Vec<i64> = batch
        .iter()
        .map(|r| &r.run)
        .filter(|run| run.cause != carillon_scheduler::Cause::Schedule)
        .map(|run| run.run_id)
        .collect();
    let params = if given.is_empty() {
        vec![]
    } else {
        pipeline.store.given_params(&given).await?
    };
    Ok((jobs, params))
}

/// A run of a broadcast job whose executors are not fixed yet.
fn is_unexpanded(route: RouteStrategy, run: &Waiting) -> bool {
    route == RouteStrategy::Broadcast && run.attempt == 1 && run.bound_to.is_none()
}
