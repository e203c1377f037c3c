use crate::words::words;

words! {
    /// Where a run stands. Codes below 9 are open, the others final.
    pub enum RunState: "run state" {
        /// Recorded, waits for its due time; known not to be sent.
        Claimed = 0 "claimed",
        /// Marked: a request may have left, its outcome is not known yet.
        Sending = 1 "sending",
        /// The executor has accepted it: started or queued.
        Running = 2 "running",
        /// Sent, but no outcome could be learned. Counts as failed; open to evidence.
        Unknown = 3 "unknown",
        /// Accepted, but its executor is gone. Counts as failed; open to evidence.
        Lost = 4 "lost",
        /// Ended well.
        Succeeded = 9 "succeeded",
        /// Ended badly, with a reason.
        Failed = 10 "failed",
        /// A kill was asked for, and the end was reported as a failure or never confirmed.
        Killed = 11 "killed",
        /// Never sent, with a reason.
        Cancelled = 12 "cancelled",
    }
}

words! {
    /// How an executor says that a run has ended.
    pub enum Outcome: "outcome" {
        /// Result code 200.
        Succeeded = 0 "succeeded",
        /// Any other result, a time-out and an interruption too.
        Failed = 1 "failed",
        /// A failure after a kill was asked for.
        Killed = 2 "killed",
    }
}

/// What can happen to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunEvent {
    /// The mark was committed: from here on a request may leave.
    Marked,
    /// The request was certainly not written, and it is given back.
    NotWritten,
    /// The executor took it (its answer, or its log shows that it has begun).
    Accepted,
    /// The executor refused it: not run.
    Refused,
    /// No executor could be reached, or there was none in time.
    NoExecutor,
    /// Disabled, deleted, misfired, overlapped, called off by an operator, or made needless by a late result.
    Cancelled,
    /// No outcome could be learned within the time that it is given.
    Unresolved,
    /// The executor is there and does not work on the run any more, or has replaced it, and no result was reported.
    Dropped,
    /// The executor's lease is over, it came back as another process, or it does not know the run any more.
    ExecutorGone,
    /// It is over its time-out by our own watch and was killed for it.
    TimedOut,
    /// A kill was accepted, and its end has not been reported in time.
    KillUnconfirmed,
    /// The end was reported: by a callback, by the executor's answer, or by an operator.
    Reported(Outcome),
    /// The end was reported, and the database was restored from a state in which the run had not been sent yet.
    ReportedAfterRestore(Outcome),
}

impl RunEvent {
    /// Every event, for tables and tests.
    pub const ALL: &'static [Self] = &[
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

impl RunState {
    /// Not ended: `claimed`, `sending`, `running`, `unknown`, `lost`.
    pub const fn is_open(self) -> bool {
        self.code() < 9
    }

    /// Nobody has given it up yet: `claimed`, `sending`, `running`.
    pub const fn on_its_way(self) -> bool {
        matches!(self, Self::Claimed | Self::Sending | Self::Running)
    }

    /// Ended; left by nothing.
    pub const fn is_final(self) -> bool {
        !self.is_open()
    }

    /// The transition function; there is no other. `None`: the event changes nothing in this state.
    ///
    /// ```text
    ///            mark              accepted              callback
    /// claimed ─────────▶ sending ───────────▶ running ─────────────▶ succeeded, failed, killed
    ///  │  ▲ │             │ │ │ │                │
    ///  │  │ │             │ │ │ └ callback first ┼─────────────────▶ succeeded, failed, killed
    ///  │  │ │             │ │ └ refused, no executor left ─────────▶ failed
    ///  │  │ │             │ └ no outcome after G_unk ──────────────▶ unknown
    ///  │  │ │             │                      ├ lease over, new boot id, or
    ///  │  │ │             │                      │ over its time and not known there ▶ lost
    ///  │  │ │             │                      └ executor there, without the run ──▶ unknown
    ///  │  └─┼ not written ┘
    ///  │    └ no executor in time ─────────────────────────────────▶ failed
    ///  └ disable, delete, misfire, overlap, operator, late result ─▶ cancelled
    ///
    /// unknown, lost ── evidence: callback, executor's answer, operator's "resolve" ──▶ succeeded, failed
    /// ```
    ///
    /// A report about a `claimed` run changes nothing: it was never sent, so nobody can know how it ended. Only after an
    /// older state of the database was restored is it evidence that the run was sent in the time that is lost. A run
    /// that is `running` over its time and *is* known there ends as `failed`. The way from `sending` back to
    /// `claimed` is the only backward edge.
    pub const fn on(self, event: RunEvent) -> Option<Self> {
        use RunEvent as E;
        match (self, event) {
            (Self::Claimed, E::Marked) => Some(Self::Sending),
            (Self::Claimed, E::Cancelled) => Some(Self::Cancelled),
            (Self::Claimed | Self::Sending, E::NoExecutor) => Some(Self::Failed),
            (Self::Sending, E::NotWritten) => Some(Self::Claimed),
            (Self::Sending, E::Accepted) => Some(Self::Running),
            (Self::Sending, E::Refused) => Some(Self::Failed),
            (Self::Sending, E::Unresolved) => Some(Self::Unknown),
            (Self::Running, E::Dropped) => Some(Self::Unknown),
            (Self::Running, E::ExecutorGone) => Some(Self::Lost),
            (Self::Running, E::TimedOut) => Some(Self::Failed),
            (Self::Running, E::KillUnconfirmed) => Some(Self::Killed),
            (Self::Sending | Self::Running, E::Reported(outcome))
            | (Self::Claimed, E::ReportedAfterRestore(outcome)) => Some(outcome.state()),
            (Self::Unknown | Self::Lost, E::Reported(Outcome::Succeeded)) => Some(Self::Succeeded),
            (Self::Unknown | Self::Lost, E::Reported(_)) => Some(Self::Failed),
            _ => None,
        }
    }
}

impl Outcome {
    /// The final state that a reported outcome leads to (from `unknown` and `lost`, a kill counts as failed).
    pub const fn state(self) -> RunState {
        match self {
            Self::Succeeded => RunState::Succeeded,
            Self::Failed => RunState::Failed,
            Self::Killed => RunState::Killed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(state: RunState) -> u8 {
        match state {
            RunState::Claimed => 0,
            RunState::Sending => 1,
            RunState::Running => 2,
            RunState::Unknown | RunState::Lost => 3,
            _ => 4,
        }
    }

    fn edges() -> impl Iterator<Item = (RunState, RunEvent, RunState)> {
        RunState::ALL
            .iter()
            .flat_map(|&from| RunEvent::ALL.iter().filter_map(move |&event| from.on(event).map(|to| (from, event, to))))
    }

    // covers: 001-26, I8
    #[test]
    fn no_backward_edge_but_not_written() {
        for (from, event, to) in edges() {
            let back = (from, event, to) == (RunState::Sending, RunEvent::NotWritten, RunState::Claimed);
            assert!(back || rank(to) > rank(from), "{from} on {event:?} goes to {to}");
        }
    }

    #[test]
    fn final_states_never_change() {
        assert!(edges().all(|(from, _, _)| from.is_open()));
    }

    // covers: 001-32, 004-4
    #[test]
    fn every_state_is_reached_and_every_open_one_can_end() {
        for &state in RunState::ALL {
            let reached = state == RunState::Claimed || edges().any(|(_, _, to)| to == state);
            assert!(reached, "{state} is never reached");
            let ends = state.is_final() || edges().any(|(from, _, to)| from == state && to.is_final());
            assert!(ends, "{state} cannot end");
        }
    }

    #[test]
    fn the_edges_are_those_of_the_drawing() {
        let drawn: Vec<String> = RunState::ALL
            .iter()
            .map(|&state| {
                let mut to: Vec<&str> = edges().filter(|e| e.0 == state).map(|e| e.2.as_str()).collect();
                to.sort_unstable();
                to.dedup();
                format!("{state}: {}", to.join(" "))
            })
            .collect();
        assert_eq!(
            drawn[..5],
            [
                "claimed: cancelled failed killed sending succeeded",
                "sending: claimed failed killed running succeeded unknown",
                "running: failed killed lost succeeded unknown",
                "unknown: failed succeeded",
                "lost: failed succeeded",
            ]
        );
    }
}
