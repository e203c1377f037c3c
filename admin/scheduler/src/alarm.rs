//! Conditions that need an operator's attention.

use crate::words::words;

words! {
    /// Why an alarm was raised.
    pub enum AlarmKind: "kind of alarm" {
        /// The last attempt of a run has failed.
        Failed = 0 "failed",
        /// The last attempt was sent, and its outcome is unknown.
        Unknown = 1 "unknown",
        /// The last attempt was accepted, and its executor is gone.
        Lost = 2 "lost",
        /// The engine has paused a job that it cannot plan or record.
        Paused = 3 "paused",
        /// Clocks differ, or the database's clock has stepped.
        Clock = 4 "clock",
        /// The database went back to an older state, or accepts no writes.
        Database = 5 "database",
        /// The ring is full, so claims are suspended.
        Ring = 6 "ring",
        /// An instant has neither a run nor a recorded reason why not.
        Gap = 7 "gap",
        /// A run stayed in its state for too long.
        Stuck = 8 "stuck",
    }
}
