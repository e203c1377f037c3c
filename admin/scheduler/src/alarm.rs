//! What somebody should hear of.

use crate::words::words;

words! {
    /// Why an alarm was raised.
    pub enum AlarmKind: "kind of alarm" {
        /// The last attempt of a run has failed.
        Failed = 0 "failed",
        /// The last attempt was sent, and no outcome could be learned.
        Unknown = 1 "unknown",
        /// The last attempt was accepted, and its executor is gone.
        Lost = 2 "lost",
        /// The engine has paused a job that it cannot plan or record.
        Paused = 3 "paused",
        /// Clocks differ, or the database's has jumped.
        Clock = 4 "clock",
        /// The database went backwards, or takes no writes.
        Database = 5 "database",
        /// So many runs wait in memory that nothing more is claimed.
        Ring = 6 "ring",
        /// An instant has neither a run nor a recorded reason why not.
        Gap = 7 "gap",
        /// A run stayed in its state for longer than it may.
        Stuck = 8 "stuck",
    }
}
