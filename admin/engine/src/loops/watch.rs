//! Loops that no executor fires, and loops whose calls fail one after the other: each has an alarm that is open until it is well again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::{LoopFailure, LoopReport};
use carillon_scheduler::Millis;
use carillon_store as store;
use carillon_store::lease::loops::WatchedLoop;
use parking_lot::Mutex;

use crate::context::Context;
use crate::dispatch::app_pauses::AppPauses;
use crate::job_cache::JobCache;

const EVERY: Duration = Duration::from_secs(5);
/// From the end of a lease to the alarm: with the lease, 15 s without a report.
const SILENT_FOR: Duration = Duration::from_secs(10);
/// Calls in a row that have failed.
const FAILURES: u64 = 10;

pub(crate) struct LoopWatch {
    cx: Arc<Context>,
    pauses: Arc<AppPauses>,
    jobs: Arc<JobCache>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next_look: Duration,
    /// By job: since when no executor has reported its loop, by the monotonic clock.
    silent: HashMap<i64, Duration>,
}

/// What is wrong with a loop.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    /// For this long no executor has reported it.
    Silent(Duration),
    Failing(u64, Option<LoopFailure>),
}

impl Trouble {
    fn text(&self) -> String {
        match self {
            Self::Silent(time) => format!("no executor has reported the loop for {} s or longer", time.as_secs()),
            Self::Failing(count, None) => format!("{count} calls of the loop have failed in a row"),
            Self::Failing(count, Some(last)) => {
                format!("{count} calls of the loop have failed in a row: {:.300}", last.text)
            }
        }
    }
}

impl LoopWatch {
    pub fn new(cx: Arc<Context>, pauses: Arc<AppPauses>, jobs: Arc<JobCache>) -> Self {
        Self { cx, pauses, jobs, state: Mutex::default() }
    }

    /// Looks at the loops of these shards, if that is due: raises alarms, and ends those of loops that are well again.
    pub async fn look(&self, shards: &[i64]) -> store::Result<()> {
        if !self.take_turn() {
            return Ok(());
        }
        let loops = self.cx.store.loops().watched(shards).await?;
        let now = self.cx.clock.now();
        let running = loops.iter().filter(|it| !is_silent(it, now)).count();
        self.cx.metrics.loops.set(i64::try_from(running).unwrap_or(i64::MAX));
        let mut well = vec![];
        let resting = self.resting(&loops, now).await?;
        for (watched, trouble) in self.examine(&loops, &resting, now) {
            match trouble {
                Some(trouble) if watched.alarmed_at == 0 => self.raise(watched.job_id, &trouble).await?,
                None if watched.alarmed_at > 0 => well.push(watched.job_id),
                _ => {}
            }
        }
        self.cx.store.loops().end_alarms(&well).await
    }

    fn take_turn(&self) -> bool {
        let (now, mut state) = (self.cx.clock.monotonic(), self.state.lock());
        let is_due = now >= state.next_look;
        if is_due {
            state.next_look = now + EVERY;
        }
        is_due
    }

    /// The loops that no executor is to have, or whose apps are paused: they miss nothing.
    async fn resting(&self, loops: &[WatchedLoop], now: Millis) -> store::Result<HashSet<i64>> {
        let silent: Vec<i64> = loops.iter().filter(|it| is_silent(it, now)).map(|it| it.job_id).collect();
        let jobs = self.jobs.current(&silent).await?;
        let paused = self.pauses.paused_apps(now);
        let is_paused = |it: &WatchedLoop| {
            let app = jobs.get(&it.job_id).map(|job| job.stored.app_id);
            app.is_some_and(|app| paused.as_ref().is_none_or(|apps| apps.contains(&app)))
        };
        Ok(loops.iter().filter(|it| !it.is_wanted || is_paused(it)).map(|it| it.job_id).collect())
    }

    /// What is wrong with each loop.
    fn examine<'a>(
        &self,
        loops: &'a [WatchedLoop],
        resting: &HashSet<i64>,
        now: Millis,
    ) -> Vec<(&'a WatchedLoop, Option<Trouble>)> {
        let has_rest = |it: &WatchedLoop| resting.contains(&it.job_id);
        let (monotonic, mut state) = (self.cx.clock.monotonic(), self.state.lock());
        let missed: HashMap<i64, Duration> = loops
            .iter()
            .filter(|it| !has_rest(it) && is_silent(it, now))
            .map(|it| (it.job_id, state.silent.get(&it.job_id).copied().unwrap_or(monotonic)))
            .collect();
        state.silent = missed;
        let trouble = |it: &WatchedLoop| match state.silent.get(&it.job_id) {
            _ if has_rest(it) => None,
            Some(since) => silence(it, monotonic.saturating_sub(*since)),
            None => failing(it),
        };
        loops.iter().map(|it| (it, trouble(it))).collect()
    }

    async fn raise(&self, job_id: i64, trouble: &Trouble) -> store::Result<()> {
        let raised = self.cx.store.loops().raise_alarm(job_id, trouble.text(), self.cx.clock.now()).await?;
        if let Some(alarm) = raised {
            self.cx.log_alarm(&alarm);
        }
        Ok(())
    }
}

/// No executor has the loop, or the one that has it has not reported it yet.
fn is_silent(it: &WatchedLoop, now: Millis) -> bool {
    it.is_stopped || it.expires_at <= now || it.reported_at == 0
}

/// An alarm that is open stays open until a report comes.
fn silence(it: &WatchedLoop, time: Duration) -> Option<Trouble> {
    (time >= SILENT_FOR || it.alarmed_at > 0).then_some(Trouble::Silent(time))
}

/// An alarm that is open stays open until a call has succeeded, or another executor has the loop.
fn failing(it: &WatchedLoop) -> Option<Trouble> {
    let report: LoopReport = serde_json::from_str(&it.report).ok()?;
    let failures = report.counters.failed_in_row;
    let is_failing = failures >= FAILURES || (failures > 0 && it.alarmed_at > 0);
    is_failing.then_some(Trouble::Failing(failures, report.last_failure))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_760_000_000_000;

    fn watched(failed_in_row: u64, alarmed_at: Millis) -> WatchedLoop {
        let counters = format!(r#"{{"failedInRow":{failed_in_row}}}"#);
        WatchedLoop {
            job_id: 1,
            is_wanted: true,
            is_stopped: false,
            expires_at: NOW + 1,
            reported_at: NOW - 1,
            alarmed_at,
            report: format!(
                r#"{{"jobId":1,"epoch":1,"counters":{counters},"lastFailure":{{"at":1,"text":"no route"}}}}"#
            ),
        }
    }

    #[test]
    fn ten_failures_in_a_row_are_trouble_until_a_call_succeeds() {
        assert_eq!(failing(&watched(9, 0)), None);
        let text = failing(&watched(10, 0)).map(|trouble| trouble.text());
        assert_eq!(text.as_deref(), Some("10 calls of the loop have failed in a row: no route"));
        assert!(failing(&watched(1, NOW)).is_some());
        assert_eq!(failing(&watched(0, NOW)), None);
    }

    #[test]
    fn a_loop_is_silent_without_a_lease_that_was_renewed() {
        let well = watched(0, 0);
        assert!(!is_silent(&well, NOW));
        assert!(is_silent(&WatchedLoop { expires_at: NOW, ..well.clone() }, NOW));
        assert!(is_silent(&WatchedLoop { is_stopped: true, ..well.clone() }, NOW));
        assert!(is_silent(&WatchedLoop { reported_at: 0, ..well.clone() }, NOW));
        assert_eq!(silence(&well, Duration::from_secs(9)), None);
        let text = silence(&well, Duration::from_secs(10)).map(|trouble| trouble.text());
        assert_eq!(text.as_deref(), Some("no executor has reported the loop for 10 s or longer"));
    }
}
