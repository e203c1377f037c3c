//! The mark: `claimed` → `sending`, committed before the first byte leaves.

use std::sync::Arc;

use carillon_scheduler::Cause;
use foldhash::{HashMap, HashSet};

use crate::complete::outcome_queue::OutcomeQueue;
use crate::context::Context;
use crate::dispatch::given_params::given_params;
use crate::dispatch::stages::{MarkStamp, MarkedRun, RoutedRun};
use crate::executor::scripts::{ScriptCache, ScriptSources};
use crate::job_cache::JobCache;
use carillon_store as store;
use carillon_store::app::limits::take::{LimitedMark, LimitedMarks};
use carillon_store::db::failpoint;
use carillon_store::job::job_row::GivenParams;
use carillon_store::run::mark::MarkRequest;

pub struct Marker {
    pub cx: Arc<Context>,
    pub jobs: Arc<JobCache>,
    pub scripts: Arc<ScriptCache>,
    pub outcomes: Arc<OutcomeQueue>,
}

/// What became of a batch of runs that need slots.
#[derive(Default)]
pub struct LimitedBatch {
    pub marked: Vec<MarkedRun>,
    pub without_slot: Vec<RoutedRun>,
    /// Another session holds their rows.
    pub held_up: Vec<RoutedRun>,
}

impl Marker {
    /// The runs that are marked now and may be sent.
    #[tracing::instrument(level = "debug", skip_all, fields(run.count = batch.len()))]
    pub async fn mark(&self, batch: Vec<RoutedRun>) -> Vec<MarkedRun> {
        let stamp = self.stamp();
        let marks: Vec<MarkRequest<'_>> = batch.iter().map(request).collect();
        let won = self.cx.store.runs().mark(&marks, stamp.token, &self.cx.node, stamp.marked_at).await;
        self.marked(batch, stamp, won).await
    }

    /// The same of runs that need slots.
    #[tracing::instrument(level = "debug", skip_all, fields(run.count = batch.len()))]
    pub async fn mark_limited(&self, mut batch: Vec<RoutedRun>) -> LimitedBatch {
        let stamp = self.stamp();
        let marks = batch.iter().map(|routed| LimitedMark { mark: request(routed), slots: routed.slots() });
        let marks: Vec<LimitedMark<'_>> = marks.collect();
        let limits = self.cx.store.limits();
        match limits.mark_limited(&marks, stamp.token, &self.cx.node, stamp.marked_at).await {
            Ok(LimitedMarks { won, without_slot: without, held_up: held }) => {
                let without_slot = batch.extract_if(.., |routed| without.contains(&routed.run.run_id)).collect();
                let held_up = batch.extract_if(.., |routed| held.contains(&routed.run.run_id)).collect();
                LimitedBatch { marked: self.marked(batch, stamp, Ok(won)).await, without_slot, held_up }
            }
            Err(error) => {
                LimitedBatch { marked: self.marked(batch, stamp, Err(error)).await, ..LimitedBatch::default() }
            }
        }
    }

    fn stamp(&self) -> MarkStamp {
        let token: i64 = rand::random();
        MarkStamp { token, asked: self.cx.clock.monotonic(), marked_at: self.cx.clock.now() }
    }

    async fn marked(
        &self,
        mut batch: Vec<RoutedRun>,
        stamp: MarkStamp,
        won: store::Result<HashSet<i64>>,
    ) -> Vec<MarkedRun> {
        let token = stamp.token;
        let won = match won {
            Ok(won) => won,
            Err(error) => {
                // The answer may have been lost: what did get marked must be unmarked before it can be marked again.
                tracing::warn!(%error, run.count = batch.len(), "runs could not be marked; they wait");
                self.unmark(batch, token);
                return vec![];
            }
        };
        failpoint::hit("after_mark_commit");
        // The row shows every node that its fire is open, or another session has the row.
        batch.iter_mut().for_each(|routed| drop(routed.admission.take()));
        batch.retain(|routed| won.contains(&routed.run.run_id));
        match self.current_definitions(&mut batch).await {
            Ok((outdated, params, scripts)) => {
                self.unmark(outdated, token);
                let mut params: HashMap<i64, GivenParams> = params.into_iter().collect();
                let marked = batch.into_iter().map(|routed| {
                    let params = params.remove(&routed.run.run_id);
                    let script = routed.decision.job.script_version().and_then(|it| scripts.get(&it).cloned());
                    MarkedRun { routed, stamp, params, script }
                });
                marked.collect()
            }
            Err(error) => {
                tracing::warn!(%error, run.count = batch.len(), "definitions could not be read; the runs go back");
                self.unmark(batch, token);
                vec![]
            }
        }
    }

    fn unmark(&self, batch: Vec<RoutedRun>, token: i64) {
        batch.into_iter().for_each(|routed| self.outcomes.unsent.add(routed.run, token));
    }

    /// Looked at after the mark: a run whose job has been edited since it was routed is taken out of the batch, and is routed by
    /// the new definition. So the revision that its mark has noted is the one of its request.
    async fn current_definitions(
        &self,
        batch: &mut Vec<RoutedRun>,
    ) -> store::Result<(Vec<RoutedRun>, Vec<(i64, GivenParams)>, ScriptSources)> {
        let routed_by = || batch.iter().map(|routed| &routed.decision.job);
        let outdated = self.jobs.outdated(routed_by()).await?;
        let whole = self.jobs.with_params(routed_by()).await?;
        let scripts = self.scripts.sources(routed_by()).await?;
        let params = self.given_params(batch).await?;
        for routed in batch.iter_mut() {
            let version = routed.decision.job.version();
            if let Some(job) = whole.get(&version.0).filter(|job| job.version() == version) {
                routed.decision.job = job.clone();
            }
        }
        // Edited before this look at the revisions, or between it and the look at the parameters.
        let is_outdated = |routed: &mut RoutedRun| {
            let job = &routed.decision.job;
            let lacks_script = job.script_version().is_some_and(|it| !scripts.contains_key(&it));
            outdated.contains(&job.version()) || job.params_are_apart() || lacks_script
        };
        let outdated = batch.extract_if(.., is_outdated).collect();
        Ok((outdated, params, scripts))
    }

    /// A whole fire of the schedule has none of its own; its parts may have.
    async fn given_params(&self, batch: &[RoutedRun]) -> store::Result<Vec<(i64, GivenParams)>> {
        let given = batch.iter().filter(|routed| routed.run.cause != Cause::Schedule || routed.run.parts > 1);
        given_params(&self.cx.store, given.map(|routed| &routed.run)).await
    }
}

fn request(routed: &RoutedRun) -> MarkRequest<'_> {
    let first = &routed.candidates[0];
    MarkRequest {
        run_id: routed.run.run_id,
        epoch: routed.run.epoch,
        address: &first.address,
        boot_id: first.boot_id.as_deref(),
        journal_id: first.journal_id.as_deref(),
        candidates_id: routed.decision.set.id,
        route_code: routed.decision.route_code,
        revision: routed.decision.job.stored.revision,
        app_id: routed.decision.job.stored.app_id,
    }
}
