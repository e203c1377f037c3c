//! From the rows of a workflow's run to what its graph is computed from, and back.

use carillon_scheduler::workflow::{Advance, Fact, Facts, NodeState, Stop, WorkflowInput, advance};
use carillon_scheduler::{FireKey, Millis};

use crate::run::advance::fire_end::FireEnd;
use crate::workflow::progress::{HeldRun, NodeRow, Progress};

impl NodeRow {
    pub fn state(&self) -> NodeState {
        NodeState::from_code(self.state).unwrap_or(NodeState::Waiting)
    }

    pub fn is_running(&self) -> bool {
        self.state() == NodeState::Running
    }

    /// It has or had a run, or ended without one.
    fn has_started(&self) -> bool {
        self.first_run_id.is_some() || matches!(self.state(), NodeState::Succeeded | NodeState::Failed)
    }

    /// What is recorded, where it is no computed state.
    fn recorded(&self) -> Fact {
        match self.state() {
            NodeState::Succeeded => Fact::Succeeded { result: self.result.clone() },
            NodeState::Failed => Fact::Failed { why: self.why.clone().unwrap_or_default() },
            NodeState::Skipped if self.decided != 0 => Fact::Skipped,
            _ if self.first_run_id.is_some() => Fact::Open,
            _ => Fact::NotStarted,
        }
    }
}

impl Progress {
    /// The ends of fires that are new are recorded; what a person has decided stays.
    pub fn record_ends(&mut self, now: Millis) {
        for row in &mut self.nodes {
            let Some(end) = self.fires.get(&(row.node as usize)).filter(|_| row.decided == 0) else {
                continue;
            };
            match end {
                FireEnd::Open { .. } => row.state = NodeState::Running.code(),
                FireEnd::Succeeded { result, ended_at, .. } => {
                    row.why = None;
                    row.result.clone_from(result);
                    row.end(NodeState::Succeeded, ended_at.unwrap_or(now));
                }
                FireEnd::Failed { why, ended_at } => {
                    row.why = Some(why.clone());
                    row.end(NodeState::Failed, ended_at.unwrap_or(now));
                }
            }
        }
    }

    /// What is to be done, by the rows as they are.
    pub fn plan(&self) -> Advance {
        let facts: Vec<Fact> = self.nodes.iter().map(NodeRow::recorded).collect();
        let started: Vec<bool> = self.nodes.iter().map(NodeRow::has_started).collect();
        let recorded: Vec<NodeState> = self.nodes.iter().map(NodeRow::state).collect();
        let stop = match (self.run.kill_asked_at, self.run.timed_out) {
            (Some(_), _) => Some(Stop::Killed),
            (None, true) => Some(Stop::TimedOut),
            (None, false) => None,
        };
        let facts = Facts {
            nodes: &facts,
            started: &started,
            recorded: &recorded,
            has_params: &self.has_params,
            is_held: self.run.held_at.is_some(),
            stop,
        };
        let HeldRun { job_id, cause, fire_no, .. } = self.run;
        let fire_key = FireKey { job_id, cause, fire_no, part: 0 }.to_string();
        let input = WorkflowInput {
            params: self.run.params.as_deref().unwrap_or_default(),
            scheduled_at: self.run.scheduled_at,
            zone: self.run.zone(),
            fire_key: &fire_key,
            run_id: self.run.run_id,
        };
        advance(&self.graph, &facts, &input)
    }

    /// A node whose run cannot be made.
    pub fn fail(&mut self, node: usize, why: &str, now: Millis) {
        self.nodes[node].why = Some(why.to_owned());
        self.nodes[node].end(NodeState::Failed, now);
    }

    /// Records what was computed of nodes without a run.
    pub fn record(&mut self, plan: &Advance, now: Millis) {
        for (row, view) in self.nodes.iter_mut().zip(&plan.nodes) {
            if row.first_run_id.is_some() || row.decided != 0 {
                continue;
            }
            row.why = Some(view.why.to_string()).filter(|why| !why.is_empty());
            row.state = view.state.code();
            row.ended_at = view.state.is_final().then(|| row.ended_at.unwrap_or(now));
        }
    }

    /// Open runs of nodes whose end has not been asked for.
    pub fn open_runs(&self) -> Vec<i64> {
        let not_asked = |end: &FireEnd| match end {
            FireEnd::Open { not_asked } => not_asked.clone(),
            _ => vec![],
        };
        self.fires.values().flat_map(not_asked).collect()
    }
}

impl NodeRow {
    /// The first run of its fire.
    pub fn begin(&mut self, run_id: i64, now: Millis) {
        self.state = NodeState::Running.code();
        self.why = None;
        self.first_run_id = Some(run_id);
        self.started_at = Some(now);
        self.ended_at = None;
    }

    fn end(&mut self, state: NodeState, at: Millis) {
        self.state = state.code();
        self.ended_at = Some(at);
    }
}
