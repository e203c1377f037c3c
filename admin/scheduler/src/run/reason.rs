use crate::words::words;

words! {
    /// Why a run is in its state, where the state alone does not say it: the word on its row.
    pub enum RunReason: "reason" {
        /// The executor reported a failure.
        Result = 0 "result",
        /// It ran longer than its time-out.
        Timeout = 1 "timeout",
        /// The executor refused it.
        Refused = 2 "refused",
        /// No executor of the app could take it in time.
        NoExecutor = 3 "no_executor",
        /// The executor stopped while it ran.
        Interrupted = 4 "interrupted",
        /// It reached the executor too late.
        Expired = 5 "expired",
        /// The job was disabled before it was sent.
        Disabled = 6 "disabled",
        /// The job was deleted before it was sent.
        Deleted = 7 "deleted",
        /// It was missed, and the job's misfire policy skips it.
        Misfire = 8 "misfire",
        /// An earlier run of the job had not ended.
        Overlap = 9 "overlap",
        /// An operator has decided it.
        Operator = 10 "operator",
        /// An earlier attempt turned out to have succeeded.
        LateResult = 11 "late_result",
        /// A kill was requested, and its end was never confirmed.
        Unconfirmed = 12 "unconfirmed",
        /// Its executor has no run of the job any more, and no result was reported.
        NotReported = 13 "not_reported",
        /// A later run took its place at the executor.
        Replaced = 14 "replaced",
        /// Its executor went away while it ran.
        Lost = 15 "lost",
        /// Written by earlier versions in place of `lost`.
        ExecutorGone = 16 "executor_gone",
        /// Written by earlier versions in place of `unknown`.
        Unresolved = 17 "unresolved",
        /// It was sent, but no outcome could be learned.
        Unknown = 18 "unknown",
        /// Its app was paused when it was due.
        AppPaused = 19 "app_paused",
        /// It is a workflow, and one of its nodes failed.
        Node = 20 "node",
        /// It has handed in items, and some of them failed.
        Items = 21 "items",
        /// It waits for a slot of a limit.
        Limit = 22 "limit",
    }
}
