//! What the admin does with a run of a job of which another fire is still open. It holds for the whole cluster; what each
//! executor does besides is its [`BlockStrategy`](crate::BlockStrategy).

use crate::words::{first_is_default, words};

words! {
    /// The rule for a run that is due while another fire of its job is `sending` or `running`.
    pub enum Overlap: "overlap rule" {
        /// It goes all the same.
        Allow = 0 "allow",
        /// It is cancelled, with the reason `overlap`.
        Skip = 1 "skip",
        /// It waits, in the order of the instants; when the job's queue is full, it is cancelled.
        Wait = 2 "wait",
        /// The open runs are asked to stop; it goes when they have ended. One that still waits then is cancelled.
        Cancel = 3 "cancel",
    }
}

first_is_default!(Overlap);

/// How many runs of a job that names no number may wait for an earlier one.
pub const DEFAULT_QUEUE: i32 = 10;

impl Overlap {
    /// One line for the console.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Allow => "run beside it",
            Self::Skip => "skip the later run",
            Self::Wait => "wait until the earlier run has ended, anywhere in the cluster",
            Self::Cancel => "stop the earlier run, then run the later one",
        }
    }
}
