use crate::words::words;

words! {
    /// Why a fire exists. A retry is not a cause of its own but a further attempt.
    pub enum Cause: "cause" {
        /// An instant of the job's schedule.
        Schedule = 0 "schedule",
        /// "Run now" in the console.
        Manual = 1 "manual",
        /// A request of the management API.
        Api = 2 "api",
        /// A parent job's success.
        Child = 3 "child",
        /// An instant of the past, requested by a backfill.
        Backfill = 4 "backfill",
        /// A node of a workflow whose turn has come.
        Node = 5 "node",
        /// The items of another run of the job, and what reads their results.
        Item = 6 "item",
        /// A delayed trigger whose time has come.
        Delayed = 7 "delayed",
    }
}
