//! The runs of workflows, those of their nodes, the notes of what has ended, and what two nodes of the cluster have in memory.

use super::rules::{Shape, Workflow};
use crate::state::NODES;

/// Nodes of all graphs together, at most.
pub const PLACES: usize = 6;
pub const FLOWS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FlowState {
    #[default]
    None,
    Claimed,
    Running,
    Succeeded,
    Failed,
    Killed,
}

impl FlowState {
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Killed)
    }
}

/// The run of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flow {
    pub state: FlowState,
    pub kill_asked: bool,
    /// How often it has begun.
    pub begun: u8,
}

/// The run of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum NodeRun {
    #[default]
    None,
    Open,
    Lost,
    Succeeded,
    Failed,
}

/// What is recorded of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Record {
    #[default]
    Waiting,
    Running,
    Succeeded,
    Failed,
    UpstreamFailed,
    Cancelled,
}

impl Record {
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }
}

/// What is to be done about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    pub records: [Record; PLACES],
    /// Nodes whose record changes, and nodes that start, a bit each.
    pub changed: u8,
    pub starts: u8,
    pub end: Option<FlowState>,
}

/// A transaction that has read and not yet committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transaction {
    pub flow: usize,
    /// The note that it takes.
    pub note: u16,
    pub plan: Plan,
}

/// A node of the cluster. A crash takes what it has in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Process {
    pub up: bool,
    pub transaction: Option<Transaction>,
    /// A plan that was made without a lock, by run.
    pub foreseen: Option<(usize, Plan)>,
    /// Notes that are nowhere else.
    pub notes: u16,
    /// Ends of workflows that it has found and not yet written.
    pub ends: [Option<FlowState>; FLOWS],
    /// Runs that it may have begun: it did not learn.
    pub doubt: [bool; FLOWS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub flows: [Flow; FLOWS],
    pub runs: [NodeRun; PLACES],
    pub starts: [u8; PLACES],
    pub records: [Record; PLACES],
    /// A bit for the end of each node's run, one for its late success, one for each workflow.
    pub notes: u16,
    pub processes: [Process; NODES],
    pub kills: u8,
    pub crashes: u8,
    pub unknown_commits: u8,
    pub lost: u8,
}

impl State {
    pub fn first(scenario: &Workflow) -> Self {
        let process = Process { up: true, ..Process::default() };
        let claimed = Flow { state: FlowState::Claimed, ..Flow::default() };
        Self {
            flows: [claimed, Flow::default()],
            runs: [NodeRun::None; PLACES],
            starts: [0; PLACES],
            records: [Record::Waiting; PLACES],
            notes: 0,
            processes: [process; NODES],
            kills: scenario.kills,
            crashes: scenario.crashes,
            unknown_commits: scenario.unknown_commits,
            lost: scenario.lost,
        }
    }

    /// Another transaction than this process's has the row of the run.
    pub fn is_locked(&self, flow: usize, by_other_than: Option<usize>) -> bool {
        let has = |process: &Process| process.transaction.is_some_and(|it| it.flow == flow);
        (0..NODES).any(|process| Some(process) != by_other_than && has(&self.processes[process]))
    }
}

pub fn note_of_end(node: usize) -> u16 {
    1 << node
}

pub fn note_of_late(node: usize) -> u16 {
    1 << (PLACES + node)
}

pub fn note_of_flow(flow: usize) -> u16 {
    1 << (2 * PLACES + flow)
}

/// All notes about a run.
pub fn notes_of(shape: Shape, flow: usize) -> u16 {
    shape.nodes_of(flow).fold(note_of_flow(flow), |notes, node| notes | note_of_end(node) | note_of_late(node))
}
