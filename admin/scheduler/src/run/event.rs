//! What can happen to a run.

use crate::words::words;

words! {
    /// The outcome of a run as the executor reports it.
    pub enum Outcome: "outcome" {
        /// Result code 200.
        Succeeded = 0 "succeeded",
        /// Any other result code, including a time-out and an interruption.
        Failed = 1 "failed",
        /// A failure after a kill was requested.
        Killed = 2 "killed",
    }
}

/// What can happen to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunEvent {
    /// It is a workflow, and its graph has begun: no executor has it.
    Held,
    /// The mark was committed: from here on a request may be sent.
    Marked,
    /// The request was certainly not written, so the run can be sent again.
    NotWritten,
    /// The executor accepted it (by its answer, or its log shows that the run has started).
    Accepted,
    /// The executor refused it and did not run it.
    Refused,
    /// No executor could be reached, or there was none in time.
    NoExecutor,
    /// Job disabled or deleted, misfire, overlap, cancelled by an operator, or unnecessary after a late result.
    Cancelled,
    /// No outcome was known within the time limit.
    Unresolved,
    /// The executor is alive but does not work on the run any more, or has replaced it, and no result was reported.
    Dropped,
    /// The executor's lease has expired, it restarted as another process, or it does not know the run any more.
    ExecutorGone,
    /// It exceeded its time-out by the admin's clock and was killed.
    TimedOut,
    /// A kill was accepted, but the end was not reported in time.
    KillUnconfirmed,
    /// The end was reported: by a callback, by the executor's answer, or by an operator.
    Reported(Outcome),
    /// The end was reported, and the database was restored from a state in which the run had not been sent yet.
    ReportedAfterRestore(Outcome),
}

#[cfg(test)]
impl RunEvent {
    /// Every event.
    pub(super) const ALL: &'static [Self] = &[
        Self::Held,
        Self::Marked,
        Self::NotWritten,
        Self::Accepted,
        Self::Refused,
        Self::NoExecutor,
        Self::Cancelled,
        Self::Unresolved,
        Self::Dropped,
        Self::ExecutorGone,
        Self::TimedOut,
        Self::KillUnconfirmed,
        Self::Reported(Outcome::Succeeded),
        Self::Reported(Outcome::Failed),
        Self::Reported(Outcome::Killed),
        Self::ReportedAfterRestore(Outcome::Succeeded),
        Self::ReportedAfterRestore(Outcome::Failed),
        Self::ReportedAfterRestore(Outcome::Killed),
    ];
}
