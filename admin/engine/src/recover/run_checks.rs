//! Runs that stay `running` at a live executor that keeps no journal: it may have lost the result, or the run. Each is
//! checked one minute after it was sent, then after twice as long, up to every hour.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use carillon_scheduler::{AlarmKind, Millis};

use crate::Pipeline;
use crate::recover::check::{Sight, look};
use crate::recover::check_schedule::{Agenda, Doubt, next_after};
use crate::recover::inquiry::Asking;
use crate::recover::monitor::{OVER_TIME, Watch};
use crate::settings::ms;
use crate::store;
use crate::store::run::open::checked::{LongRunning, Place, ToCheck};

/// Executors that are asked at once, each for one run at a time.
const AT_ONCE: usize = 64;

/// After so many answers without meaning in a row (seven minutes) somebody should know.
const UNCLEAR: u16 = 3;

#[derive(Clone)]
pub struct Checks {
    agenda: Arc<Mutex<Agenda>>,
    /// How far the search for runs has come in each shard: one page a round.
    places: Arc<Mutex<HashMap<i32, Place>>>,
    asking: Asking,
    /// Executors whose unclear answers were told, until they answer clearly.
    told: Arc<Mutex<HashSet<String>>>,
}

impl Default for Checks {
    fn default() -> Self {
        Self { agenda: Arc::default(), places: Arc::default(), asking: Asking::new(1, AT_ONCE), told: Arc::default() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Checks {
    pub fn keep_shards(&self, held: &HashSet<i32>) {
        let mut places = lock(&self.places);
        if places.keys().any(|shard| !held.contains(shard)) {
            places.retain(|shard, _| held.contains(shard));
            lock(&self.agenda).keep_shards(held);
        }
    }

    fn take_up(&self, shard: i32, found: &[LongRunning], now: Millis, pipeline: &Pipeline) {
        let first = pipeline.settings.check_after;
        let mut agenda = lock(&self.agenda);
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
            agenda.add(shard, run, next_at);
        }
    }

    /// What is due at one address, run by run. An executor that does not answer is not asked about the others.
    async fn check_all(&self, pipeline: &Pipeline, runs: &[i64]) -> store::Result<()> {
        let found = pipeline.store.to_check(runs).await?;
        for run_id in runs {
            let Some(it) = found.get(run_id) else {
                // It has ended.
                lock(&self.agenda).remove(*run_id);
                continue;
            };
            if !self.check(pipeline, it).await? {
                break;
            }
        }
        Ok(())
    }

    /// False: its executor gives no clear answer.
    async fn check(&self, pipeline: &Pipeline, it: &ToCheck) -> store::Result<bool> {
        let (run, first) = (&it.run, pipeline.settings.check_after);
        let next = next_after(run.sent_at, pipeline.clock.now(), first);
        let is_over = |end: Millis| end + ms(OVER_TIME) < pipeline.clock.now();
        let is_registered = match (&run.app, &run.address) {
            (Some(app), Some(address)) => pipeline.registered(app, address).is_ok(),
            _ => false,
        };
        // Over its time it is ended by that rule; an address that is not registered is not called.
        if run.ends_by().is_some_and(is_over) || !is_registered {
            lock(&self.agenda).note(run.run_id, next, None, true);
            return Ok(true);
        }
        let (before, beside) = {
            let agenda = lock(&self.agenda);
            (agenda.doubt(run.run_id), agenda.beside(run.run_id))
        };
        let sight = look(pipeline, it, &beside, before.is_some()).await;
        let now = pipeline.clock.now();
        let checks = &pipeline.metrics.checks;
        match sight {
            Sight::AtWork => {
                checks.with_label_values(&["at_work"]).inc();
                lock(&self.agenda).note(run.run_id, next, None, true);
            }
            Sight::Unclear(why) => {
                checks.with_label_values(&["unclear"]).inc();
                let times = lock(&self.agenda).note(run.run_id, next, None, false);
                if times >= UNCLEAR {
                    self.tell(pipeline, it, &why).await?;
                }
                return Ok(false);
            }
            Sight::Doubt(seen, finding) => {
                checks.with_label_values(&["doubt"]).inc();
                let before = before.filter(|before| before.seen == seen);
                let since = before.map_or(now, |before| before.since);
                // A result may be under way, or held up with its executor's heartbeats: the pause counts from when this
                // node could hear.
                let pause_ends = pipeline.executors.patience_from(since) + ms(first);
                if before.is_some() && pause_ends <= now {
                    lock(&self.agenda).remove(run.run_id);
                    pipeline.outcomes.found(finding);
                } else {
                    let doubt = Doubt { seen, since };
                    let again = pause_ends.max(now + 1);
                    lock(&self.agenda).note(run.run_id, again, Some(doubt), true);
                }
            }
        }
        if let Some(address) = &run.address {
            lock(&self.told).remove(address);
        }
        Ok(true)
    }

    async fn tell(&self, pipeline: &Pipeline, it: &ToCheck, why: &str) -> store::Result<()> {
        let run = &it.run;
        let address = run.address.clone().unwrap_or_default();
        if !lock(&self.told).insert(address.clone()) {
            return Ok(());
        }
        let text = format!("whether {address} still works on run {} cannot be checked: {why}", run.run_id);
        pipeline.raise_alarm(AlarmKind::Stuck, Some(run.job_id), Some(run.run_id), text).await
    }
}

impl Watch {
    /// The next page of a shard's running runs.
    pub(crate) async fn look_for_long_running(&self, shard: i32) -> store::Result<()> {
        let behind = lock(&self.checks.places).get(&shard).copied();
        let page = self.pipeline.store.long_running(shard, behind.unwrap_or_default());
        let (found, next) = page.await?;
        lock(&self.checks.places).insert(shard, next);
        let now = self.pipeline.clock.now();
        self.checks.take_up(shard, &found, now, &self.pipeline);
        Ok(())
    }

    pub(crate) fn check_long_running(&self) {
        let now = self.pipeline.clock.now();
        let due = lock(&self.checks.agenda).due(now, AT_ONCE);
        for (address, runs) in due {
            let Some(asked) = runs.first().and_then(|run| self.checks.asking.take(*run, &address)) else {
                continue;
            };
            let (pipeline, checks) = (self.pipeline.clone(), self.checks.clone());
            self.pipeline.sends.spawn(async move {
                let _asked = asked;
                if let Err(error) = checks.check_all(&pipeline, &runs).await {
                    tracing::warn!(%error, executor.address = &*address, "runs could not be checked; a later round goes on");
                }
            });
        }
    }
}
