//! The states of a node.

use crate::words::{first_is_default, words};

words! {
    /// The state of one node of a workflow's run.
    pub enum NodeState: "node state" {
        /// A parent has not ended.
        Waiting = 0 "waiting",
        /// It could start, but the workflow's run is held.
        Held = 1 "held",
        /// Its run has not ended, or it is to be started now.
        Running = 2 "running",
        /// Its run, or a user, says so.
        Succeeded = 3 "succeeded",
        /// By its run, by a user, or because its parameters are too large.
        Failed = 4 "failed",
        /// The branch was not taken, or a user skipped it.
        Skipped = 5 "skipped",
        /// A node before it failed.
        UpstreamFailed = 6 "upstream_failed",
        /// It had not started when the workflow was killed or its time was over.
        Cancelled = 7 "cancelled",
    }
}

first_is_default!(NodeState);

impl NodeState {
    /// Whether the workflow's run does not wait for the node.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Waiting | Self::Held | Self::Running)
    }
}
