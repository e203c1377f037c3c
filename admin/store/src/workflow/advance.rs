//! A workflow goes on: what follows from the ends of its nodes, or from what a person has decided, in one transaction that may be
//! repeated.
//!
//! It locks the jobs that are to be started, then the run of the workflow, and computes what is to be done under that lock. At first the
//! jobs of the nodes after the ended ones stand for those that are to be started. A start of another job is made by the next attempt,
//! which computes them before it locks.

use std::collections::BTreeSet;

use carillon_scheduler::workflow::{Advance, End, NodeState, Start};
use carillon_scheduler::{Cause, Millis, Outcome, RunEvent, RunReason, RunState};
use serde_json::json;

use crate::db::failpoint;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::run::advance::advancing::Advanced;
use crate::run::follow_up::{FollowUp, Kind};
use crate::run::lock::{LockMode, LockedJob};
use crate::run::new_runs::NewRun;
use crate::run::settle::finding::RunReport;
use crate::views::WorkflowStore;
use crate::workflow::graphs::UNSPLITTABLE;
use crate::workflow::progress::{NodeRow, Progress, fire_of, node_of};
use foldhash::HashMap;
use sea_orm::ConnectionTrait;

/// What has been noted about the run of a workflow.
pub(crate) struct Notes {
    pub run_id: i64,
    pub follow_ups: Vec<FollowUp>,
    /// Nodes with an end among them.
    pub nodes: Vec<usize>,
}

impl Notes {
    /// Adds an end, with the number of its fire, to what has been noted about its workflow.
    pub fn add(all: &mut Vec<Self>, end: FollowUp, fire_no: i64) {
        let (run_id, node) = match end.kind {
            Kind::Node | Kind::LateNode => {
                let (run_id, node) = node_of(fire_no);
                (run_id, Some(node))
            }
            _ => (end.run_id, None),
        };
        let place = all.iter().position(|notes| notes.run_id == run_id).unwrap_or_else(|| {
            all.push(Self { run_id, follow_ups: vec![], nodes: vec![] });
            all.len() - 1
        });
        all[place].follow_ups.push(end);
        all[place].nodes.extend(node);
    }

    /// Ends of nodes, and nothing else.
    fn are_ends(&self) -> bool {
        self.nodes.len() == self.follow_ups.len()
    }
}

impl WorkflowStore<'_> {
    pub(crate) async fn advance(self, notes: &Notes, now: Millis) -> Result<Advanced> {
        let mut is_again = false;
        retry::on_conflict(|| self.try_advance(notes, now, std::mem::replace(&mut is_again, true))).await
    }

    async fn try_advance(self, notes: &Notes, now: Millis, is_again: bool) -> Result<Advanced> {
        let foreseen = match !is_again && notes.are_ends() {
            true => self.followers(notes).await?,
            false => self.foresee(notes, now).await?,
        };
        let ids = self.take_ids(&ids::RUN, foreseen.len()).await?;
        let tx = self.begin().await?;
        let jobs = self.runs().lock_jobs(&tx, foreseen, LockMode::SkipLocked).await?;
        let run = self.runs().lock_runs(&tx, &[notes.run_id], LockMode::SkipLocked).await?;
        if !jobs.held_up.is_empty() || !run.held_up.is_empty() {
            let held_up = notes.follow_ups.iter().map(|end| end.run_id).collect();
            return Ok(Advanced { held_up, ..Advanced::default() });
        }
        let there = self.runs().take(&tx, notes.follow_ups.iter().copied()).await?;
        let Some(mut progress) = self.progress(&tx, notes.run_id, &notes.nodes).await?.filter(|_| !there.is_empty())
        else {
            tx.commit().await?;
            return Ok(Advanced::default());
        };
        let before = progress.nodes.clone();
        progress.record_ends(now);
        let mut step = Advanced::default();
        if progress.run.state == RunState::Running {
            self.go_on(&tx, &mut progress, (&jobs.owners, ids), now, &mut step).await?;
        } else {
            // It has ended: only what became known late is recorded.
            note_late_ends(&before, &mut progress);
        }
        let changed: Vec<&NodeRow> =
            before.iter().zip(&progress.nodes).filter(|(old, new)| old != new).map(|it| it.1).collect();
        self.replace_nodes(&tx, notes.run_id, &changed).await?;
        if !step.to_end.is_empty() || !step.to_kill.is_empty() {
            // It is looked at again until it has ended.
            let again = FollowUp { run_id: notes.run_id, job_id: progress.run.job_id, kind: Kind::Workflow };
            self.runs().insert_follow_ups(&tx, &[again], now).await?;
        }
        failpoint::hit("before_workflow_commit");
        tx.commit().await?;
        failpoint::hit("after_workflow_commit");
        Ok(step)
    }

    /// The jobs of the nodes after those that have ended, one for each node: all that is started in most cases.
    async fn followers(self, notes: &Notes) -> Result<Vec<i64>> {
        let Some(graph) = self.graph_of_run(&self.write, notes.run_id).await? else {
            return Ok(vec![]);
        };
        let ended = notes.nodes.iter().filter(|node| **node < graph.nodes.len());
        let followers: BTreeSet<usize> = ended.flat_map(|node| graph.children(*node)).copied().collect();
        Ok(followers.into_iter().filter_map(|node| graph.nodes[node].job.id()).collect())
    }

    /// The jobs of the nodes that will be started, by what stands there without a lock.
    async fn foresee(self, notes: &Notes, now: Millis) -> Result<Vec<i64>> {
        let Some(mut progress) = self.progress(&self.write, notes.run_id, &notes.nodes).await? else {
            return Ok(vec![]);
        };
        if progress.run.state != RunState::Running {
            return Ok(vec![]);
        }
        progress.record_ends(now);
        let plan = self.possible_plan(&self.write, &mut progress, now).await?;
        Ok(plan.start.iter().map(|start| progress.nodes[start.node].job_id).collect())
    }

    async fn go_on(
        self,
        tx: &Transaction,
        progress: &mut Progress,
        (jobs, ids): (&HashMap<i64, LockedJob>, Vec<i64>),
        now: Millis,
        step: &mut Advanced,
    ) -> Result<()> {
        let plan = self.possible_plan(tx, progress, now).await?;
        if plan.start.iter().any(|start| !jobs.contains_key(&progress.nodes[start.node].job_id)) {
            // It was not foreseen.
            return Err(Error::Busy);
        }
        progress.record(&plan, now);
        self.start(tx, progress, &plan.start, (jobs, ids), now, step).await?;
        if progress.run.kill_asked_at.is_some() || progress.run.timed_out {
            step.to_kill = progress.open_runs();
        }
        if let Some(end) = plan.end {
            step.to_end.push(report(progress.run.run_id, end));
        }
        Ok(())
    }

    /// What is to be done. Nodes whose job is gone, cannot be split, or does not let this app start it, fail, and what follows from that is
    /// part of the plan.
    async fn possible_plan(self, db: &impl ConnectionTrait, progress: &mut Progress, now: Millis) -> Result<Advance> {
        loop {
            let plan = progress.plan();
            let impossible = self.impossible(db, progress, &plan.start).await?;
            if impossible.is_empty() {
                return Ok(plan);
            }
            for (node, why) in impossible {
                progress.fail(node, why, now);
            }
        }
    }

    /// The nodes among these whose run cannot be made, and why.
    async fn impossible(
        self,
        db: &impl ConnectionTrait,
        progress: &Progress,
        starts: &[Start],
    ) -> Result<Vec<(usize, &'static str)>> {
        let job = |start: &Start| progress.nodes[start.node].job_id;
        let is_list = |start: &Start| progress.graph.nodes[start.node].for_each.is_some();
        let wanted: BTreeSet<i64> = starts.iter().map(job).collect();
        let wanted: Vec<i64> = wanted.into_iter().collect();
        let of_lists: Vec<i64> = starts.iter().filter(|start| is_list(start)).map(job).collect();
        let startable = self.apps().startable_by(db, progress.run.app_id, &wanted).await?;
        let denied: Vec<i64> = wanted.into_iter().filter(|job| !startable.contains(job)).collect();
        let known = self.jobs().known_jobs(db, &denied).await?;
        let unsplittable = self.unsplittable(db, &of_lists).await?;
        let why = |start: &Start| match job(start) {
            job if known.contains(&job) => Some("its app does not let the app of the workflow start its jobs"),
            job if !startable.contains(&job) => Some("the job does not exist any more"),
            job if is_list(start) && unsplittable.contains(&job) => Some(UNSPLITTABLE),
            _ => None,
        };
        Ok(starts.iter().filter_map(|start| Some((start.node, why(start)?))).collect())
    }

    async fn start(
        self,
        tx: &Transaction,
        progress: &mut Progress,
        starts: &[Start],
        (jobs, ids): (&HashMap<i64, LockedJob>, Vec<i64>),
        now: Millis,
        step: &mut Advanced,
    ) -> Result<()> {
        if starts.len() > ids.len() {
            return Err(Error::Busy);
        }
        let (mut runs, mut inputs, mut priors) = (vec![], vec![], vec![]);
        for (start, id) in starts.iter().zip(ids) {
            let row = &mut progress.nodes[start.node];
            row.begin(id, now);
            runs.push(NewRun {
                id,
                job_id: row.job_id,
                cause: Cause::Node,
                fire_no: fire_of(progress.run.run_id, start.node),
                scheduled_at: progress.run.scheduled_at,
                // It may begin a little before it is due, as runs are marked; its nodes do not.
                due_at: now.max(progress.run.due_at),
            });
            // A list of one member makes one part, also where the job has several parts of its own.
            let is_list = progress.graph.nodes[start.node].for_each.is_some();
            let count = is_list.then(|| start.parts.len().max(1) as i32);
            let texts = (!start.parts.is_empty()).then(|| json!(start.parts).to_string());
            if start.params.is_some() || is_list {
                inputs.push(values![id, start.params.clone(), count, texts]);
            }
            if let Some(prior) = row.prior_run_id {
                priors.push((id, row.job_id, prior));
            }
            step.to_scan.extend(jobs.get(&row.job_id).map(|job| job.shard));
        }
        step.nodes_started += runs.len();
        self.runs().insert_runs(tx, &runs).await?;
        self.insert_rows(tx, "run_input", "run_id, params, parts, part_params", inputs).await?;
        self.continue_from(tx, &priors).await
    }

    /// Runs of sub-workflows that go on from an earlier run, where that was the run of a workflow.
    async fn continue_from(self, tx: &Transaction, runs: &[(i64, i64, i64)]) -> Result<()> {
        for (run_id, job_id, prior) in runs {
            let text = "INSERT INTO workflow_run (run_id, job_id, prior_run_id, timed_out) SELECT ?, ?, MAX(w.run_id), FALSE FROM run AS first_run \
                        JOIN run ON run.fire_no = first_run.fire_no AND run.job_id = first_run.job_id AND run.cause = first_run.cause \
                        JOIN workflow_run w ON w.run_id = run.id WHERE first_run.id = ? HAVING MAX(w.run_id) IS NOT NULL";
            self.execute(tx, text, values![*run_id, *job_id, *prior]).await?;
        }
        Ok(())
    }
}

/// The end of the run, which is settled as the end of any other.
fn report(run_id: i64, end: End) -> RunReport {
    let (event, reason, message) = match end {
        End::Succeeded { result } => (RunEvent::Reported(Outcome::Succeeded), None, result),
        End::Failed { message } => (RunEvent::Reported(Outcome::Failed), Some(RunReason::Node), Some(message)),
        End::TimedOut { message } => (RunEvent::TimedOut, Some(RunReason::Timeout), Some(message)),
        End::Killed => (RunEvent::Reported(Outcome::Killed), Some(RunReason::Operator), None),
    };
    RunReport::found(run_id, event, reason, message)
}

/// Of a run that has ended: which nodes have succeeded after all.
fn note_late_ends(before: &[NodeRow], progress: &mut Progress) {
    for (old, new) in before.iter().zip(&mut progress.nodes) {
        if old != new && new.state() == NodeState::Succeeded {
            new.why = Some("its success became known after the workflow had ended".to_owned());
        }
    }
}
