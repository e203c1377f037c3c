//! Why a node has its state, as one sentence.

use std::fmt;

use super::facts::Stop;

/// A parent that explains a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// Its position in the graph.
    pub node: usize,
    /// Its name.
    pub name: String,
}

/// Why a node has its state. Its text is stored and shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It is started now.
    Starts,
    /// Its run has not ended.
    Runs,
    /// It succeeded.
    Succeeded,
    /// It failed, with this text.
    Failed(String),
    /// Its `for_each` is an empty list.
    EmptyList,
    /// A user skipped it.
    SkippedByHand,
    /// This parent has not ended.
    WaitsFor(Parent),
    /// The workflow's run is held.
    Held,
    /// No edge into it is taken; the first one says why.
    NotTaken(Parent, Branch),
    /// This parent failed, or was not run because of a failure.
    Blocked(Parent),
    /// This node failed and has `if_failed: stop`.
    StoppedBy(Parent),
    /// It was recorded as not run, and could run now, but a node behind it has started.
    TooLate,
    /// Its parameters cannot be given to its job.
    Input(String),
    /// Nothing starts any more.
    Cancelled(Stop),
}

/// Why an edge is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Branch {
    /// A `failure` edge of a parent that succeeded.
    Succeeded,
    /// The parent was skipped.
    Skipped,
    /// A `failure` edge of a parent that was not run.
    NotRun,
    /// The path of a test leads nowhere.
    Missing {
        /// As the test has it.
        path: String,
    },
    /// A test does not hold.
    Test {
        /// As the test has it.
        path: String,
        /// The first 64 characters of the value.
        value: String,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starts => f.write_str("starts now"),
            Self::Runs => f.write_str("its run has not ended"),
            Self::Succeeded => f.write_str("succeeded"),
            Self::Failed(why) if why.is_empty() => f.write_str("failed"),
            Self::Failed(why) => f.write_str(why),
            Self::EmptyList => f.write_str("its list is empty"),
            Self::SkippedByHand => f.write_str("skipped by hand"),
            Self::WaitsFor(parent) => write!(f, "waits for {}", parent.name),
            Self::Held => f.write_str("the workflow is held"),
            Self::NotTaken(parent, branch) => branch.write(f, &parent.name),
            Self::Blocked(parent) => write!(f, "not run because of {}", parent.name),
            Self::StoppedBy(parent) => write!(f, "stopped by {}", parent.name),
            Self::TooLate => f.write_str("too late: a node after it has started"),
            Self::Input(what) => write!(f, "input: {what}"),
            Self::Cancelled(Stop::Killed) => f.write_str("the workflow was killed"),
            Self::Cancelled(Stop::TimedOut) => f.write_str("the time of the workflow was over"),
        }
    }
}

impl Branch {
    fn write(&self, f: &mut fmt::Formatter<'_>, parent: &str) -> fmt::Result {
        match self {
            Self::Succeeded => write!(f, "branch not taken: {parent} succeeded"),
            Self::Skipped => write!(f, "branch not taken: {parent} was skipped"),
            Self::NotRun => write!(f, "branch not taken: {parent} was not run"),
            Self::Missing { path } => write!(f, "branch not taken: {} is missing", named(path)),
            Self::Test { path, value } => write!(f, "branch not taken: {} is {value}", named(path)),
        }
    }
}

fn named(path: &str) -> &str {
    if path.is_empty() { "the result" } else { path }
}
