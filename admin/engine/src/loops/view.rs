//! A loop as people and programs see it.

use std::time::Duration;

use carillon_protocol::{LOOP_LATENESS_MS, LoopCounters, LoopHistory, LoopReport};
use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::Job;
use carillon_store::lease::loops::LoopLease;

use crate::engine::Engine;
use crate::loops::totals::{last_report, totals};

/// How long its executor may take to say what it remembers.
const LIMIT: Duration = Duration::from_millis(500);
/// An executor that has not reported a loop for this long is not asked, in ms.
const SILENT_MS: i64 = 3_000;

/// Where a loop stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopState {
    /// An executor has it.
    Running,
    /// It was taken from an executor that may still fire it.
    Stopping,
    /// No executor has it, and one is to have it.
    Waiting,
    /// No executor is to have it: the job is paused.
    Off,
}

impl LoopState {
    pub const ALL: [Self; 4] = [Self::Running, Self::Stopping, Self::Waiting, Self::Off];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Waiting => "waiting",
            Self::Off => "off",
        }
    }

    pub(crate) fn of(lease: &LoopLease, now: Millis) -> Self {
        match (lease.expires_at > now, lease.is_stopped) {
            (true, false) => Self::Running,
            (true, true) => Self::Stopping,
            _ if lease.is_wanted => Self::Waiting,
            _ => Self::Off,
        }
    }
}

/// A loop, with what its executor remembers of it.
#[derive(Clone, Debug)]
pub struct LoopView {
    pub state: LoopState,
    pub lease: LoopLease,
    /// Over all grants.
    pub totals: LoopCounters,
    /// Of the grants that have ended.
    pub ended: LoopCounters,
    /// The last report of this grant.
    pub report: Option<LoopReport>,
    /// The last calls; `Err`: why they are not known.
    pub history: Result<LoopHistory, String>,
}

impl LoopView {
    /// How many calls started late by at most this number of ms (None: by more), the punctual ones first.
    pub fn lateness(&self) -> Vec<(Option<u32>, u64)> {
        let bounds = LOOP_LATENESS_MS.iter().map(|bound| Some(*bound)).chain([None]);
        bounds.zip(self.totals.lateness.iter().copied()).collect()
    }
}

impl Engine {
    /// The loop of a job. None: it has none. After a move to another app the executor of the former one is not named.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn loop_of(&self, job: &Job) -> store::Result<Option<LoopView>> {
        if !job.draft.is_best_effort() {
            return Ok(None);
        }
        let Some(mut lease) = self.cx.store.loops().get(job.id).await? else { return Ok(None) };
        let totals = totals(&lease);
        if lease.app_id != job.app_id {
            lease.address.clear();
            lease.report.clear();
            (lease.granted_at, lease.reported_at) = (0, 0);
        }
        let now = self.cx.clock.now();
        let state = LoopState::of(&lease, now);
        let history = match state {
            LoopState::Running if lease.reported_at + SILENT_MS >= now => self.history(&lease).await,
            LoopState::Running => Err("its executor has not reported the loop lately".to_owned()),
            _ => Err("no executor has the loop".to_owned()),
        };
        let ended = serde_json::from_str(&lease.counters).unwrap_or_default();
        let report = last_report(&lease);
        Ok(Some(LoopView { state, totals, ended, report, history, lease }))
    }

    /// The last calls, as the executor remembers them.
    async fn history(&self, lease: &LoopLease) -> Result<LoopHistory, String> {
        let app = self.cx.store.apps().get(lease.app_id).await.ok().flatten();
        let app = app.ok_or("the app of its executor is not known")?;
        let job_id = i32::try_from(lease.job_id).unwrap_or(i32::MAX);
        self.client.loop_history(&lease.address, &app.name, job_id, LIMIT).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::totals::ended_lease;

    #[test]
    fn the_state_follows_the_lease() {
        let of = |is_wanted, is_stopped, expires_at| {
            LoopState::of(&LoopLease { is_wanted, is_stopped, expires_at, ..ended_lease("", "") }, 1_000)
        };
        assert_eq!(of(true, false, 1_001), LoopState::Running);
        assert_eq!(of(true, true, 1_001), LoopState::Stopping);
        assert_eq!(of(true, false, 1_000), LoopState::Waiting);
        assert_eq!(of(true, true, 0), LoopState::Waiting);
        assert_eq!(of(false, true, 0), LoopState::Off);
    }
}
