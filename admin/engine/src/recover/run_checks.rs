//! Runs that stay `running` at a live executor that keeps no journal: it may have lost the result, or the run. Each is
//! checked one minute after it was sent, then after twice as long, up to every hour.

use std::sync::Arc;

use carillon_scheduler::{AlarmKind, Millis};
use foldhash::{HashMap, HashSet};
use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use crate::recover::check::{CheckResult, OtherRuns, check_run};
use crate::recover::check_schedule::{CheckSchedule, Sighting, Suspicion, next_after};
use crate::recover::inquiry::Inquiries;
use crate::recover::lost::TIMEOUT_GRACE;
use crate::recover::run_knowledge::RecoverContext;
use crate::settings::ms;
use carillon_store as store;
use carillon_store::run::open::checked::{LongRunning, PageCursor, ToCheck};

/// Executors that are asked at once, each for one run at a time.
const MAX_CONCURRENT: usize = 64;

/// After this many inconclusive answers in a row (seven minutes) an alarm is raised.
const MAX_INCONCLUSIVE: u16 = 3;

pub struct RunChecks {
    pub(crate) recover: Arc<RecoverContext>,
    pub(crate) tasks: TaskTracker,
    pub(crate) schedule: Mutex<CheckSchedule>,
    /// How far the search for runs has come in each shard: one page a round.
    pub(crate) places: Mutex<HashMap<i32, PageCursor>>,
    pub(crate) inquiries: Inquiries<1, MAX_CONCURRENT>,
    /// Executors whose inconclusive answers were alarmed, until they answer clearly.
    pub(crate) alarmed: Mutex<HashSet<String>>,
}

impl RunChecks {
    pub fn keep_shards(&self, held: &HashSet<i32>) {
        let mut places = self.places.lock();
        if places.keys().any(|shard| !held.contains(shard)) {
            places.retain(|shard, _| held.contains(shard));
            self.schedule.lock().keep_shards(held);
        }
    }

    fn add(&self, shard: i32, found: &[LongRunning]) {
        let (now, first) = (self.recover.cx.clock.now(), self.recover.cx.settings.check_after);
        let mut schedule = self.schedule.lock();
        for run in found {
            let age = now - run.sent_at;
            if run.is_own || age < ms(first) {
                continue;
            }
            // Its first time has come; of an older one a former holder has seen to the times that are past.
            let next_at = match age < 3 * ms(first) {
                true => now,
                false => next_after(run.sent_at, now, first),
            };
            schedule.add(shard, run, next_at);
        }
    }

    /// What is due at one address, run by run. An executor that does not answer is not asked about the others.
    async fn check_all(&self, runs: &[i64]) -> store::Result<()> {
        let found = self.recover.cx.store.runs().runs_to_check(runs).await?;
        for run_id in runs {
            let Some(it) = found.get(run_id) else {
                // It has ended.
                self.schedule.lock().remove(*run_id);
                continue;
            };
            if !self.check(it).await? {
                break;
            }
        }
        Ok(())
    }

    /// False: its executor gives no clear answer.
    async fn check(&self, it: &ToCheck) -> store::Result<bool> {
        let RecoverContext { cx, client, directory, outcomes, .. } = &*self.recover;
        let (run, first) = (&it.run, cx.settings.check_after);
        let next = next_after(run.sent_at, cx.clock.now(), first);
        let is_over = |end: Millis| end + ms(TIMEOUT_GRACE) < cx.clock.now();
        let target = run.app.as_deref().zip(run.address.as_deref());
        let target = target.filter(|(app, address)| directory.registered(app, address).is_ok());
        // Over its time it is ended by that rule; an address that is not registered is not called.
        let Some(target) = target.filter(|_| !run.ends_by().is_some_and(is_over)) else {
            self.schedule.lock().note(run.run_id, next, None, true);
            return Ok(true);
        };
        let (before, beside) = {
            let schedule = self.schedule.lock();
            (schedule.suspicion(run.run_id), schedule.other_runs_of_job(run.run_id))
        };
        let others = OtherRuns {
            long_running: &beside,
            has_later: cx.store.runs().running_beside(run).await?.later,
            last_result_at: self.recover.last_result_after(it).await?,
        };
        let result =
            check_run(client, target, cx.settings.send_limit, it, &others, before.map(|before| before.seen)).await;
        let now = cx.clock.now();
        let checks = &cx.metrics.checks;
        // What became of a later run says nothing of how its executor answers.
        let is_clear = !matches!(result, CheckResult::Suspicious(Sighting::Overtaken, _));
        match result {
            CheckResult::AtWork => {
                checks.with_label_values(&["at_work"]).inc();
                self.schedule.lock().note(run.run_id, next, None, true);
            }
            CheckResult::Inconclusive(why) => {
                checks.with_label_values(&["unclear"]).inc();
                let times = self.schedule.lock().note(run.run_id, next, None, false);
                if times >= MAX_INCONCLUSIVE {
                    self.alarm_inconclusive(it, &why).await;
                }
                return Ok(false);
            }
            CheckResult::Suspicious(seen, report) => {
                checks.with_label_values(&["doubt"]).inc();
                let before = before.filter(|before| before.seen == seen);
                let since = before.map_or(now, |before| before.since);
                // A result may be under way, or held up with its executor's heartbeats: the pause counts from when this
                // node could receive both.
                let pause_ends = directory.give_up_from(since) + ms(first);
                if before.is_some() && pause_ends <= now {
                    self.schedule.lock().remove(run.run_id);
                    outcomes.enqueue_internal(report);
                } else {
                    let suspicion = Suspicion { seen, since };
                    let again = pause_ends.max(now + 1);
                    self.schedule.lock().note(run.run_id, again, Some(suspicion), true);
                }
            }
        }
        if is_clear {
            self.alarmed.lock().remove(target.1);
        }
        Ok(true)
    }

    async fn alarm_inconclusive(&self, it: &ToCheck, why: &str) {
        let run = &it.run;
        let address = run.address.clone().unwrap_or_default();
        if !self.alarmed.lock().insert(address.clone()) {
            return;
        }
        let text = format!("whether {address} still works on run {} cannot be checked: {why}", run.run_id);
        self.recover.cx.raise_alarm(AlarmKind::Stuck, Some(run.job_id), Some(run.run_id), text).await;
    }

    /// The next page of a shard's running runs.
    pub async fn look_for_long_running(&self, shard: i32) -> store::Result<()> {
        let behind = self.places.lock().get(&shard).copied();
        let (found, next) = self.recover.cx.store.runs().long_running(shard, behind.unwrap_or_default()).await?;
        self.places.lock().insert(shard, next);
        self.add(shard, &found);
        Ok(())
    }

    /// Checks what is due, each address in a task of its own.
    pub fn spawn_due(self: &Arc<Self>) {
        let now = self.recover.cx.clock.now();
        let due = self.schedule.lock().due(now, MAX_CONCURRENT);
        for (address, runs) in due {
            let (checks, first, of) = (self.clone(), runs[0], address.clone());
            let check = async move {
                if let Err(error) = checks.check_all(&runs).await {
                    tracing::warn!(%error, executor.address = &*of, "runs could not be checked; a later round goes on");
                }
            };
            self.inquiries.spawn(&self.tasks, (first, &address), check);
        }
    }
}
