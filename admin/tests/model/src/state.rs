//! Everything there is in the model: the database, two nodes, the requests under way, two executors.

use crate::rules::Scenario;

pub const NODES: usize = 2;
pub const SHARDS: usize = 2;
pub const EXECUTORS: usize = 2;
/// Most instants of a trace.
pub const INSTANTS: usize = 3;
pub const ATTEMPTS: usize = 2;
/// Runs are counted by instant and attempt.
pub const RUNS: usize = INSTANTS * ATTEMPTS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RunState {
    #[default]
    None,
    Claimed,
    Sending,
    Running,
    Unknown,
    Succeeded,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Run {
    pub state: RunState,
    pub shard: u8,
    pub epoch: u8,
    /// The mark that won it last, 0: none.
    pub token: u8,
    /// Who has marked it last.
    pub owner: Option<u8>,
    pub address: Option<u8>,
    /// As recorded.
    pub sends: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Lease {
    pub epoch: u8,
    pub owner: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Job {
    pub shard: u8,
    /// The first instant that is not recorded.
    pub cursor: u8,
    pub revision: u8,
    pub enabled: bool,
}

/// What a node has in memory. A crash takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Node {
    pub up: bool,
    pub stopping: bool,
    /// Whether the node has ended in good order.
    pub gone: bool,
    /// The epochs under which it believes to hold shards.
    pub epochs: [Option<u8>; SHARDS],
    /// A claim that is computed and not yet written.
    pub plan: Option<Job>,
    /// Runs in its ring, a bit each.
    pub ring: u8,
    /// Its marks of runs that are to be sent.
    pub to_send: [u8; RUNS],
    /// Its marks that are committed or not: it did not learn.
    pub doubt: [u8; RUNS],
    /// Requests whose answer it waits for.
    pub awaits: u8,
    /// Results that it has answered for and not yet written.
    pub held: u8,
    /// Ends of which it is about to do what follows.
    pub ends: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Executor {
    pub receipts: [u8; RUNS],
    pub executions: [u8; RUNS],
    /// Its result was answered with 200.
    pub acked: u8,
}

/// What may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    pub takes: u8,
    pub crashes: u8,
    pub unknown_commits: u8,
    pub not_written: u8,
    pub resends: u8,
    pub edits: u8,
    pub disables: u8,
    pub reshards: u8,
    pub stops: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Instants up to this are due.
    pub now: u8,
    pub leases: [Lease; SHARDS],
    pub job: Job,
    pub runs: [Run; RUNS],
    pub nodes: [Node; NODES],
    /// Requests on the wire.
    pub wire: [[u8; EXECUTORS]; RUNS],
    /// Requests that were ever written.
    pub written: [u8; RUNS],
    pub executors: [Executor; EXECUTORS],
    /// Marks so far: each has a token of its own.
    pub marks: u8,
    /// A second row for one instant and attempt.
    pub twice: bool,
    /// Ends that are noted, from which nothing has followed yet; of these, ends of runs that were on their way, not late evidence.
    pub noted: u8,
    pub noted_links: u8,
    /// Runs of the child, and further links of the chain, by fire.
    pub children: [u8; INSTANTS],
    pub links: [u8; INSTANTS],
    pub budget: Budget,
}

impl State {
    pub fn first(scenario: &Scenario) -> Self {
        let node = Node { up: true, ..Node::default() };
        Self {
            now: 0,
            leases: [Lease::default(); SHARDS],
            job: Job { shard: 0, cursor: 1, revision: 1, enabled: true },
            runs: [Run::default(); RUNS],
            nodes: [node; NODES],
            wire: [[0; EXECUTORS]; RUNS],
            written: [0; RUNS],
            executors: [Executor::default(); EXECUTORS],
            marks: 0,
            twice: false,
            noted: 0,
            noted_links: 0,
            children: [0; INSTANTS],
            links: [0; INSTANTS],
            budget: Budget {
                takes: scenario.takes,
                crashes: scenario.crashes,
                unknown_commits: scenario.unknown_commits,
                not_written: scenario.not_written,
                resends: scenario.resends,
                edits: scenario.edits,
                disables: scenario.disables,
                reshards: scenario.reshards,
                stops: scenario.stops,
            },
        }
    }
}

/// The place of an instant's first attempt among the runs.
pub fn first_run(instant: u8) -> usize {
    (usize::from(instant) - 1) * ATTEMPTS
}

pub fn instant_of(run: usize) -> u8 {
    (run / ATTEMPTS) as u8 + 1
}

pub fn bit(run: usize) -> u8 {
    1 << run
}
