//! Everything that can happen next to a workflow.

use super::derive::plan;
use super::rules::{Workflow, WorkflowRules};
use super::state::{
    FLOWS, Flow, FlowState, NodeRun, PLACES, Process, Record, State, Transaction, note_of_end, note_of_flow,
    note_of_late, notes_of,
};
use crate::state::NODES;

/// What happened. `process` is a node of the cluster, `node` one of the graph, `flow` the run of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Hold { process: usize, flow: usize },
    HoldUnknown { process: usize, flow: usize },
    HoldAgain { process: usize, flow: usize },
    Foresee { process: usize, flow: usize, note: u16 },
    Begin { process: usize, flow: usize, note: u16 },
    Commit { process: usize },
    CommitUnknown { process: usize },
    WriteEnd { process: usize, flow: usize },
    End { process: usize, node: usize },
    Lose { process: usize, node: usize },
    Evidence { process: usize, node: usize },
    Stopped { process: usize, node: usize },
    Kill,
    KillInner,
    Crash { process: usize },
    Restart { process: usize },
}

impl Step {
    /// Whether the step also happens when nothing breaks and no operator intervenes.
    pub fn is_ordinary(self) -> bool {
        !matches!(
            self,
            Self::HoldUnknown { .. }
                | Self::CommitUnknown { .. }
                | Self::Lose { .. }
                | Self::Evidence { .. }
                | Self::Kill
                | Self::Crash { .. }
                | Self::Restart { .. }
        )
    }
}

struct Next<'a> {
    scenario: &'a Workflow,
    from: &'a State,
    found: Vec<(Step, State)>,
}

pub fn next(scenario: &Workflow, from: &State) -> Vec<(Step, State)> {
    let mut next = Next { scenario, from, found: vec![] };
    for process in 0..NODES {
        next.process(process);
    }
    next.kills();
    next.found
}

impl Next<'_> {
    /// One more step. What changes nothing is none.
    fn add(&mut self, step: Step, change: impl FnOnce(&mut State)) {
        let mut to = *self.from;
        change(&mut to);
        if to != *self.from {
            self.found.push((step, to));
        }
    }

    fn process(&mut self, process: usize) {
        let it = self.from.processes[process];
        if !it.up {
            self.add(Step::Restart { process }, |state| state.processes[process].up = true);
            return;
        }
        if self.from.crashes > 0 {
            // What it has not committed is undone.
            self.add(Step::Crash { process }, |state| {
                state.crashes -= 1;
                state.processes[process] = Process::default();
            });
        }
        for flow in 0..FLOWS {
            self.hold(process, flow);
            self.advance(process, flow);
            self.write_end(process, flow);
        }
        self.commit(process);
        for node in 0..self.scenario.shape.nodes() {
            self.run(process, node);
        }
    }

    fn hold(&mut self, process: usize, flow: usize) {
        let rules = self.scenario.rules;
        if self.from.flows[flow].state == FlowState::Claimed {
            self.add(Step::Hold { process, flow }, |state| hold(self.scenario, state, flow));
            if self.from.unknown_commits > 0 {
                self.add(Step::HoldUnknown { process, flow }, |state| {
                    state.unknown_commits -= 1;
                    state.processes[process].doubt[flow] = true;
                    hold(self.scenario, state, flow);
                });
            }
        }
        if self.from.processes[process].doubt[flow] {
            self.add(Step::HoldAgain { process, flow }, |state| {
                state.processes[process].doubt[flow] = false;
                if state.flows[flow].state == FlowState::Claimed || !rules.hold_checks_state {
                    hold(self.scenario, state, flow);
                }
            });
        }
    }

    /// Whichever of the notes about the run it has read.
    fn advance(&mut self, process: usize, flow: usize) {
        let (rules, shape, it) = (self.scenario.rules, self.scenario.shape, self.from.processes[process]);
        let taken = self.from.processes.iter().filter_map(|it| it.transaction).fold(0, |notes, it| notes | it.note);
        let free = (self.from.notes | it.notes) & !taken & notes_of(shape, flow);
        if it.transaction.is_some() || free == 0 {
            return;
        }
        for note in (0..u16::BITS).map(|bit| 1 << bit).filter(|note| free & note != 0) {
            if !rules.plan_under_lock && it.foreseen.is_none() {
                self.add(Step::Foresee { process, flow, note }, |state| {
                    state.processes[process].foreseen = Some((flow, plan(shape, state, flow, note)));
                });
                continue;
            }
            if it.foreseen.is_some_and(|(foreseen, _)| foreseen != flow)
                || (rules.row_lock && self.from.is_locked(flow, None))
            {
                continue;
            }
            self.add(Step::Begin { process, flow, note }, |state| {
                let foreseen = state.processes[process].foreseen.take();
                let plan = foreseen.map_or_else(|| plan(shape, state, flow, note), |(_, plan)| plan);
                state.processes[process].transaction = Some(Transaction { flow, note, plan });
            });
        }
    }

    fn commit(&mut self, process: usize) {
        let Some(transaction) = self.from.processes[process].transaction else {
            return;
        };
        self.add(Step::Commit { process }, |state| {
            if commit(self.scenario, state, process, transaction) {
                state.processes[process].ends[transaction.flow] = transaction.plan.end;
            }
        });
        if self.from.unknown_commits > 0 {
            self.add(Step::CommitUnknown { process }, |state| {
                state.unknown_commits -= 1;
                commit(self.scenario, state, process, transaction);
            });
        }
    }

    fn write_end(&mut self, process: usize, flow: usize) {
        let rules = self.scenario.rules;
        let Some(end) = self.from.processes[process].ends[flow] else {
            return;
        };
        if rules.row_lock && self.from.is_locked(flow, None) {
            return;
        }
        self.add(Step::WriteEnd { process, flow }, |state| {
            state.processes[process].ends[flow] = None;
            let is_over = self.scenario.shape.nodes_of(flow).all(|node| state.records[node].is_final());
            if state.flows[flow].state != FlowState::Running || (rules.end_checks_nodes && !is_over) {
                return;
            }
            state.flows[flow].state = end;
            if flow == 1 {
                let run = if end == FlowState::Succeeded { NodeRun::Succeeded } else { NodeRun::Failed };
                end_run(rules, state, process, 0, run);
            }
        });
    }

    /// The run of a node at its executor.
    fn run(&mut self, process: usize, node: usize) {
        let (rules, shape) = (self.scenario.rules, self.scenario.shape);
        if shape.is_inner(node) {
            return;
        }
        match self.from.runs[node] {
            NodeRun::Open => {
                self.add(Step::End { process, node }, |state| end_run(rules, state, process, node, NodeRun::Succeeded));
                if self.from.flows[shape.flow(node)].kill_asked {
                    self.add(Step::Stopped { process, node }, |state| {
                        end_run(rules, state, process, node, NodeRun::Failed);
                    });
                }
                if self.from.lost > 0 {
                    self.add(Step::Lose { process, node }, |state| {
                        state.lost -= 1;
                        end_run(rules, state, process, node, NodeRun::Lost);
                    });
                }
            }
            NodeRun::Lost => self.add(Step::Evidence { process, node }, |state| {
                state.runs[node] = NodeRun::Succeeded;
                note(rules, state, process, note_of_late(node));
            }),
            NodeRun::None | NodeRun::Succeeded | NodeRun::Failed => {}
        }
    }

    fn kills(&mut self) {
        let is_free = |flow| !self.scenario.rules.row_lock || !self.from.is_locked(flow, None);
        if self.from.kills > 0 && is_free(0) {
            self.add(Step::Kill, |state| {
                if kill(state, 0) {
                    state.kills -= 1;
                }
            });
        }
        // The outer run asks for the end of what runs of it.
        if self.from.flows[0].kill_asked && is_free(1) {
            self.add(Step::KillInner, |state| {
                let was_claimed = state.flows[1].state == FlowState::Claimed;
                if kill(state, 1) && was_claimed {
                    state.runs[0] = NodeRun::Failed;
                    state.notes |= note_of_end(0);
                }
            });
        }
    }
}

/// The run begins: its nodes are there, and it is noted that it goes on.
fn hold(scenario: &Workflow, state: &mut State, flow: usize) {
    state.flows[flow].state = FlowState::Running;
    state.flows[flow].begun += 1;
    for node in scenario.shape.nodes_of(flow) {
        state.records[node] = Record::Waiting;
    }
    state.notes |= note_of_flow(flow);
}

/// False: it is undone.
fn commit(scenario: &Workflow, state: &mut State, process: usize, transaction: Transaction) -> bool {
    let Transaction { flow, note, plan } = transaction;
    state.processes[process].transaction = None;
    let starts = |node: &usize| plan.starts & (1 << node) != 0;
    if scenario.rules.unique_key && (0..PLACES).filter(starts).any(|node| state.starts[node] > 0) {
        return false;
    }
    state.notes &= !note;
    state.processes[process].notes &= !note;
    for node in (0..PLACES).filter(|node| plan.changed & (1 << node) != 0) {
        state.records[node] = plan.records[node];
    }
    for node in (0..PLACES).filter(starts) {
        state.starts[node] += 1;
        state.runs[node] = NodeRun::Open;
        if scenario.shape.is_inner(node) {
            state.flows[1] = Flow { state: FlowState::Claimed, ..Flow::default() };
        }
    }
    if plan.end.is_some() && scenario.rules.end_is_noted {
        state.notes |= note_of_flow(flow);
    }
    true
}

/// False: there is nothing to end.
fn kill(state: &mut State, flow: usize) -> bool {
    let it = &mut state.flows[flow];
    match it.state {
        FlowState::Claimed => it.state = FlowState::Killed,
        FlowState::Running if !it.kill_asked => {
            it.kill_asked = true;
            state.notes |= note_of_flow(flow);
        }
        _ => return false,
    }
    true
}

fn end_run(rules: WorkflowRules, state: &mut State, process: usize, node: usize, run: NodeRun) {
    state.runs[node] = run;
    note(rules, state, process, note_of_end(node));
}

fn note(rules: WorkflowRules, state: &mut State, process: usize, note: u16) {
    match rules.end_notes_what_follows {
        true => state.notes |= note,
        false => state.processes[process].notes |= note,
    }
}
