use super::event::{Outcome, RunEvent};
use crate::words::words;

words! {
    /// The state of a run. Codes below 9 are open, the others final.
    pub enum RunState: "run state" {
        /// Recorded, waits for its due time; certainly not sent.
        Claimed = 0 "claimed",
        /// Marked: a request may have been sent, its outcome is not known yet.
        Sending = 1 "sending",
        /// The executor has accepted it: started or queued.
        Running = 2 "running",
        /// Sent, but no outcome is known. Counts as failed until there is evidence.
        Unknown = 3 "unknown",
        /// Accepted, but its executor is gone. Counts as failed until there is evidence.
        Lost = 4 "lost",
        /// Ended with success.
        Succeeded = 9 "succeeded",
        /// Ended with a failure, which has a reason.
        Failed = 10 "failed",
        /// A kill was requested, and the end was reported as a failure or not confirmed in time.
        Killed = 11 "killed",
        /// Never sent, for a reason.
        Cancelled = 12 "cancelled",
    }
}

impl RunState {
    /// The final state after a reported outcome (but from `unknown` and `lost` a kill counts as failed).
    pub const fn from_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded => Self::Succeeded,
            Outcome::Failed => Self::Failed,
            Outcome::Killed => Self::Killed,
        }
    }

    /// Not ended: `claimed`, `sending`, `running`, `unknown`, `lost`.
    pub const fn is_open(self) -> bool {
        self.code() < 9
    }

    /// An outcome is still expected: `claimed`, `sending`, `running`.
    pub const fn is_pending(self) -> bool {
        matches!(self, Self::Claimed | Self::Sending | Self::Running)
    }

    /// Ended; no event changes it.
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
    ///  │  │ │             │ └ no outcome within the time limit ────▶ unknown
    ///  │  │ │             │                      ├ lease over, new boot id, or
    ///  │  │ │             │                      │ over its time and not known there ▶ lost
    ///  │  │ │             │                      └ executor there, without the run ──▶ unknown
    ///  │  └─┼ not written ┘
    ///  │    └ no executor in time ─────────────────────────────────▶ failed
    ///  ├ disable, delete, misfire, overlap, operator, late result ─▶ cancelled
    ///  └ a workflow that begins ─▶ running, without an executor
    ///
    /// unknown, lost ── evidence: callback, executor's answer, operator's "resolve" ──▶ succeeded, failed
    /// ```
    ///
    /// A report about a `claimed` run changes nothing: the run was never sent, so it has no outcome. Only after an older
    /// state of the database was restored is a report evidence that the run was sent in the lost time. A `running` run
    /// that exceeds its time-out and *is* known to its executor ends as `failed`. The edge from `sending` to `claimed` is
    /// the only backward edge.
    pub const fn on(self, event: RunEvent) -> Option<Self> {
        use RunEvent as E;
        match (self, event) {
            (Self::Claimed, E::Marked) => Some(Self::Sending),
            (Self::Claimed, E::Held) => Some(Self::Running),
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
            | (Self::Claimed, E::ReportedAfterRestore(outcome)) => Some(Self::from_outcome(outcome)),
            (Self::Unknown | Self::Lost, E::Reported(Outcome::Succeeded)) => Some(Self::Succeeded),
            (Self::Unknown | Self::Lost, E::Reported(_)) => Some(Self::Failed),
            _ => None,
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
                "claimed: cancelled failed killed running sending succeeded",
                "sending: claimed failed killed running succeeded unknown",
                "running: failed killed lost succeeded unknown",
                "unknown: failed succeeded",
                "lost: failed succeeded",
            ]
        );
    }
}
