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
        /// A run stayed in its state for too long, or a shard is not worked.
        Stuck = 8 "stuck",
        /// A run has succeeded, and a child of its job was not started, because its app does not allow that.
        ChildNotStarted = 9 "child_not_started",
        /// A run has missed the objective of its job: it was not sent within the time after it was due.
        LateStart = 10 "late_start",
        /// No executor fires the loop of a best-effort job, or its calls fail one after the other.
        Loop = 11 "loop",
    }
}

words! {
    /// What an alert rule may be about: the alarms, and conditions that are looked for on behalf of rules.
    pub enum AlertKind: "kind of alert" {
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
        /// A run was not sent in time, or stayed in its state for too long, or a shard is not worked.
        Stuck = 8 "stuck",
        /// A run takes longer than the rule allows.
        LongRunning = 9 "long_running",
        /// Instants of a job were skipped because they were too late.
        Misfire = 10 "misfire",
        /// The lease of an executor has ended without a word from it.
        ExecutorLost = 11 "executor_lost",
        /// An app with enabled jobs has no executor.
        NoExecutor = 12 "no_executor",
        /// A run has succeeded, and a child of its job was not started, because its app does not allow that.
        ChildNotStarted = 13 "child_not_started",
        /// A run has missed the objective of its job: it was not sent within the time after it was due.
        LateStart = 14 "late_start",
        /// No executor fires the loop of a best-effort job, or its calls fail one after the other.
        Loop = 15 "loop",
    }
}

impl From<AlarmKind> for AlertKind {
    fn from(kind: AlarmKind) -> Self {
        match kind {
            AlarmKind::Failed => Self::Failed,
            AlarmKind::Unknown => Self::Unknown,
            AlarmKind::Lost => Self::Lost,
            AlarmKind::Paused => Self::Paused,
            AlarmKind::Clock => Self::Clock,
            AlarmKind::Database => Self::Database,
            AlarmKind::Ring => Self::Ring,
            AlarmKind::Gap => Self::Gap,
            AlarmKind::Stuck => Self::Stuck,
            AlarmKind::ChildNotStarted => Self::ChildNotStarted,
            AlarmKind::LateStart => Self::LateStart,
            AlarmKind::Loop => Self::Loop,
        }
    }
}

impl AlertKind {
    /// It is about the outcome of a run: a later run of the job that succeeds ends it.
    pub fn is_outcome(self) -> bool {
        matches!(self, Self::Failed | Self::Unknown | Self::Lost)
    }

    /// It is about the scheduler, not about a job or an app.
    pub fn is_of_scheduler(self) -> bool {
        matches!(self, Self::Clock | Self::Database | Self::Ring)
    }
}
