//! Runs that their executors have: lost with their executor, over their time, killed and never ended, or dropped there. Looked for by the
//! holder of their shard.
//!
//! A run is given up only for a reason that is on its row, and never because this node could not hear: leases count anew
//! from when heartbeats could be taken again (see `executors`).

use crate::recover::executor_state;
use crate::recover::orphans;
use crate::recover::run_checks;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::{Millis, RunEvent};
use tokio::sync::Notify;

use crate::Pipeline;
use crate::maintain::periodic::Periodic;
use crate::recover::inquiry::Asking;
use crate::recover::resolver::TAKEN_TOGETHER;
use crate::runtime::Service;
use crate::settings::{LostRule, ms};
use crate::store;
use crate::store::run::open::misplaced::Walk;
use crate::store::run::open::running::{Look, Watched};
use crate::store::run::settle::outcomes::Finding;

/// Runs that are asked about at once, and those of one address; the others wait for the next round.
const AT_ONCE: usize = 256;
const OF_ONE_ADDRESS: usize = 16;

/// A run outlives its executor's lease by so long.
const LOST_AFTER: Duration = Duration::from_secs(30);

/// An executor that has signed off finishes its runs for so long before the first rule begins.
const SIGNED_OFF: Duration = Duration::from_secs(30);

/// xxl-job's rule: so long after it was sent, if its executor is not registered.
const XXL_LOST_AFTER: Duration = Duration::from_secs(600);

/// A run may be so long over its time before the admin steps in.
pub(crate) const OVER_TIME: Duration = Duration::from_secs(60);

pub struct Watch {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) asking: Asking,
    pub(crate) asking_for_kills: Asking,
    pub(crate) checks: run_checks::Checks,
    /// Addresses that have signed off, and since when this node has seen them so.
    pub(crate) signed_off: Mutex<HashMap<String, Millis>>,
    pub(crate) seen: orphans::Seen,
    /// The search for rows that are astray reads all that is open: shards that change hands wake this service, and must not
    /// make it read that again and again.
    pub(crate) search: Periodic,
    /// How far that has come.
    pub(crate) walk: tokio::sync::Mutex<Walk>,
}

/// What a look at a run's row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Fine,
    /// Its executor has not been heard of for too long.
    Gone,
    /// Its address has another process by now.
    Restarted,
    OverTime,
}

impl Watch {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self {
            pipeline,
            asking: Asking::new(OF_ONE_ADDRESS, AT_ONCE),
            asking_for_kills: Asking::new(AT_ONCE, AT_ONCE),
            checks: run_checks::Checks::default(),
            signed_off: Mutex::default(),
            seen: orphans::Seen::default(),
            search: Periodic::at_once(),
            walk: tokio::sync::Mutex::default(),
        }
    }

    async fn round(&self) -> store::Result<()> {
        // After a pause of this process, or of the database, leases count anew: before anything is judged by them.
        self.pipeline.executors.refresh(&self.pipeline.store).await?;
        self.pipeline.heard();
        let mut away = HashSet::new();
        let every = self.pipeline.settings.resolve_every;
        let held: HashSet<i32> = self.pipeline.holdings.all().into_keys().collect();
        self.checks.keep_shards(&held);
        for shard in held {
            self.look_after(shard, &mut away).await?;
            self.look_for_long_running(shard).await?;
            self.follow_kills(shard).await?;
            self.look_for_the_forgotten(shard).await?;
            if shard == 0 && self.search.is_due(self.pipeline.clock.monotonic(), every) {
                self.look_for_the_astray().await?;
            }
        }
        self.check_long_running();
        self.signed_off().retain(|address, _| away.contains(address));
        Ok(())
    }

    async fn look_after(&self, shard: i32, away: &mut HashSet<String>) -> store::Result<()> {
        let now = self.pipeline.clock.now();
        let look = Look { shard, silent_since: now - ms(LOST_AFTER), over_since: now - ms(OVER_TIME) };
        let mut after = Some(0);
        while let Some(from) = after {
            let (found, next) = self.pipeline.store.watched(look, from).await?;
            for run in found {
                if run.registered.is_none() {
                    away.extend(run.address.clone());
                }
                self.judge(run, now);
            }
            after = next;
        }
        Ok(())
    }

    fn judge(&self, run: Watched, now: Millis) {
        match self.verdict(&run, now) {
            Verdict::Fine => {}
            Verdict::Gone => self.pipeline.lose(&run, "its executor is gone"),
            verdict => self.ask(run, verdict),
        }
    }

    fn verdict(&self, run: &Watched, now: Millis) -> Verdict {
        let lease_end = self.lease_end(run, now);
        let gone = match self.pipeline.settings.lost_rule {
            LostRule::Lease => lease_end + ms(LOST_AFTER) < now,
            LostRule::Xxl => lease_end < now && run.sent_at + ms(XXL_LOST_AFTER) < now,
        };
        if gone {
            return Verdict::Gone;
        }
        if lease_end < now {
            // Only executors that are registered are called.
            return Verdict::Fine;
        }
        if run.has_restarted() {
            return Verdict::Restarted;
        }
        match run.ends_by() {
            Some(end) if end + ms(OVER_TIME) < now => Verdict::OverTime,
            _ => Verdict::Fine,
        }
    }

    /// Until when its executor counts as there.
    fn lease_end(&self, run: &Watched, now: Millis) -> Millis {
        let Some(address) = &run.address else {
            return run.sent_at;
        };
        match &run.registered {
            Some(it) => {
                let is_own = it.boot_id.is_some();
                self.pipeline.executors.lease_end(it.expires_at, is_own)
            }
            None => {
                let mut signed_off = self.signed_off();
                let since = *signed_off.entry(address.clone()).or_insert(now);
                since + ms(SIGNED_OFF)
            }
        }
    }

    fn signed_off(&self) -> std::sync::MutexGuard<'_, HashMap<String, Millis>> {
        self.signed_off.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, run: Watched, verdict: Verdict) {
        let run_id = run.run_id;
        let address = run.address.as_deref().unwrap_or_default();
        let Some(asked) = self.asking.take(run_id, address) else {
            return;
        };
        let pipeline = self.pipeline.clone();
        self.pipeline.sends.spawn(async move {
            let _asked = asked;
            let done = match verdict {
                Verdict::OverTime => executor_state::over_time(&pipeline, &run).await,
                _ => executor_state::restarted(&pipeline, &run).await,
            };
            if let Err(error) = done {
                tracing::warn!(run.id = run_id, %error, "a run could not be looked after; the next round goes on");
            }
        });
    }
}

impl Pipeline {
    /// `running` → `lost`.
    pub(crate) fn lose(&self, run: &Watched, why: &str) {
        let address = run.address.as_deref().unwrap_or("its executor");
        self.outcomes.found(Finding {
            run_id: run.run_id,
            event: RunEvent::ExecutorGone,
            code: None,
            message: Some(format!("{address}: {why}")),
            reason: Some("lost"),
            sent_at: None,
        });
    }

    /// An executor of our SDK has registered as a new process: what its address had is looked after at once.
    pub fn executor_restarted(self: &Arc<Self>, address: String, boot_id: String) {
        let pipeline = self.clone();
        self.sends.spawn(async move {
            let found = pipeline.store.of_earlier_boots(&address, &boot_id).await;
            let done = match found {
                Ok(found) => executor_state::all_restarted(&pipeline, found).await,
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                tracing::warn!(%error, "runs of a restarted executor are looked after by the next audit");
            }
        });
    }
}

#[async_trait]
impl Service for Watch {
    fn name(&self) -> &'static str {
        "watch"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.pipeline.watch_wake.clone())
    }

    fn linger(&self) -> Duration {
        TAKEN_TOGETHER
    }

    async fn step(&self) -> Duration {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, "running runs could not be looked after; the next round goes on");
        }
        let settings = &self.pipeline.settings;
        settings.resolve_every.min(settings.check_after)
    }
}
