//! Who can be sent to: a copy of the registrations, at most a second old.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use carillon_scheduler::{Labels, Millis};
use tokio::sync::Notify;

use crate::Pipeline;
use crate::executor::client::KEEPS_A_JOURNAL;
use crate::runtime::Service;
use crate::settings::ms;
use crate::store;
use crate::store::Store;
use crate::store::app::executors::Executor;

/// An executor that may be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub address: String,
    pub boot_id: Option<String>,
    pub journal_id: Option<String>,
    pub weight: u32,
    pub labels: Arc<Labels>,
    /// It has missed two heartbeats: others are tried before it.
    pub suspect: bool,
    /// It may be sent a run that it has already: it runs once, across its restarts too.
    pub keeps_a_journal: bool,
}

/// A registration, with what need not be read for each run.
struct Seat {
    executor: Executor,
    labels: Arc<Labels>,
}

impl Seat {
    fn candidate(&self, now: Millis) -> Candidate {
        let executor = &self.executor;
        let lease = executor.expires_at - executor.seen_at;
        Candidate {
            address: executor.address.clone(),
            boot_id: executor.boot_id.clone(),
            journal_id: executor.journal_id.clone(),
            weight: executor.weight(),
            labels: self.labels.clone(),
            // A lease is three beats.
            suspect: now > executor.seen_at + lease * 2 / 3,
            keeps_a_journal: executor.has(KEEPS_A_JOURNAL),
        }
    }
}

#[derive(Default)]
struct Snapshot {
    by_app: HashMap<String, Vec<Seat>>,
}

/// No executor is held to be dead while nobody could take its heartbeats: those that were live when a node was last alive
/// keep their lease for its full length after this node's start.
#[derive(Clone, Copy, Debug)]
struct Grace {
    last_alive_at: Millis,
    since: Millis,
    own_until: Millis,
    stock_until: Millis,
}

#[derive(Default)]
pub struct Executors {
    snapshot: Mutex<Arc<Snapshot>>,
    grace: Mutex<Option<Grace>>,
    pub changed: Arc<Notify>,
    /// When the registrations were last read.
    heard_at: AtomicI64,
}

impl Executors {
    pub fn begin_grace(&self, last_alive_at: Millis, now: Millis, own: Duration, stock: Duration) {
        let grace = Grace { last_alive_at, since: now, own_until: now + ms(own), stock_until: now + ms(stock) };
        *self.grace.lock().unwrap_or_else(PoisonError::into_inner) = Some(grace);
    }

    /// Until when a registration counts, for whoever has lost its executor.
    pub fn lease_end(&self, expires_at: Millis, is_own: bool) -> Millis {
        let grace = *self.grace.lock().unwrap_or_else(PoisonError::into_inner);
        match grace {
            Some(grace) if expires_at >= grace.last_alive_at => {
                expires_at.max(if is_own { grace.own_until } else { grace.stock_until })
            }
            _ => expires_at,
        }
    }

    /// From when on a run that finds no executor may be given up: not for the time in which none could register.
    pub fn patience_from(&self, due_at: Millis) -> Millis {
        let grace = *self.grace.lock().unwrap_or_else(PoisonError::into_inner);
        grace.map_or(due_at, |grace| grace.since.max(due_at))
    }

    pub async fn refresh(&self, store: &Store) -> store::Result<()> {
        let mut by_app: BTreeMap<String, Vec<Seat>> = BTreeMap::new();
        for executor in store.executors().await? {
            by_app
                .entry(executor.app.clone())
                .or_default()
                .push(Seat { labels: Arc::new(executor.labels()), executor });
        }
        let snapshot = Snapshot { by_app: by_app.into_iter().collect() };
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        Ok(())
    }

    /// The live executors of an app, by address.
    pub fn live(&self, app: &str, now: Millis) -> Vec<Candidate> {
        let snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let grace = *self.grace.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(all) = snapshot.by_app.get(app) else {
            return vec![];
        };
        all.iter()
            .filter(|Seat { executor, .. }| {
                executor.is_live(now) || grace.is_some_and(|grace| grace.covers(executor, now))
            })
            .map(|seat| seat.candidate(now))
            .collect()
    }
}

impl Grace {
    fn covers(&self, executor: &Executor, now: Millis) -> bool {
        let until = if executor.boot_id.is_some() { self.own_until } else { self.stock_until };
        executor.expires_at >= self.last_alive_at && now < until
    }
}

/// Longer without the database than this, and leases count anew from its return.
const OUTAGE_MS: i64 = 5_000;

/// An address that requests carried the access token to, and that is nobody's who registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} is no longer registered as an executor of {app}, so it is not called")]
pub struct NotRegistered {
    address: String,
    app: String,
}

impl Pipeline {
    /// Every request to an executor carries the access token. An address that is no longer registered may belong to
    /// another program by now: whoever calls an address that was read from a run's row asks here first.
    pub(crate) fn registered(&self, app: &str, address: &str) -> Result<Candidate, NotRegistered> {
        let live = self.executors.live(app, self.clock.now());
        let found = live.into_iter().find(|it| it.address == address);
        found.ok_or_else(|| NotRegistered { address: address.to_owned(), app: app.to_owned() })
    }

    /// The database answers just now. After a longer silence (its own, or a pause of this process) nobody could be heard
    /// meanwhile, and leases count anew.
    pub(crate) fn heard(&self) {
        let now = self.clock.now();
        let before = self.executors.heard_at.swap(now, Ordering::Relaxed);
        if before > 0 && now - before > OUTAGE_MS {
            self.count_leases_anew(before);
        }
    }

    /// The registrations could not be read. The copy says nothing about heartbeats that came after it, so after the same silence
    /// no lease in it runs out before the database answers again.
    fn not_heard(&self) {
        let now = self.clock.now();
        let before = self.executors.heard_at.load(Ordering::Relaxed);
        if before > 0 && now - before > OUTAGE_MS {
            self.count_leases_anew(before);
        }
    }

    /// Those that were live at `last_alive_at` have a full lease from now on.
    fn count_leases_anew(&self, last_alive_at: Millis) {
        let (own, stock) = (self.settings.own_lease, self.settings.stock_lease);
        let now = self.clock.now();
        self.executors.begin_grace(last_alive_at, now, own, stock);
    }

    /// A heartbeat came and could not be stored.
    pub fn heartbeat_not_stored(&self) {
        self.count_leases_anew(self.clock.now());
    }
}

/// Keeps the copy fresh.
pub struct Registry {
    pipeline: Arc<Pipeline>,
}

impl Registry {
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Self { pipeline }
    }
}

#[async_trait]
impl Service for Registry {
    fn name(&self) -> &'static str {
        "registry"
    }

    fn wake(&self) -> Option<Arc<Notify>> {
        Some(self.pipeline.executors.changed.clone())
    }

    async fn step(&self) -> Duration {
        let now = self.pipeline.clock.monotonic();
        self.pipeline.histories.sweep(now);
        let (active, shards) = (&self.pipeline.active, self.pipeline.shards());
        if let Err(error) = active.refresh(&self.pipeline.store, shards, now).await {
            tracing::warn!(%error, "open runs could not be counted; the last numbers stay in use");
        }
        match self.pipeline.executors.refresh(&self.pipeline.store).await {
            Ok(()) => self.pipeline.heard(),
            Err(error) => {
                tracing::warn!(%error, "registrations could not be read; the last ones stay in use");
                self.pipeline.not_heard();
            }
        }
        Duration::from_secs(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::app::executors::Traits;

    fn executor(boot_id: Option<&str>, expires_at: Millis) -> Executor {
        Executor {
            app: "orders".into(),
            address: "http://10.0.0.1:9999/".into(),
            boot_id: boot_id.map(Into::into),
            capabilities: None,
            journal_id: None,
            registered_at: 0,
            seen_at: 0,
            expires_at,
            announced: Traits::default(),
            set: Traits::default(),
        }
    }

    // covers: 002-34
    #[test]
    fn nobody_is_dead_while_no_heartbeat_could_be_taken() {
        // The last node was alive at 100 s; this one starts at 500 s.
        let grace = Grace { last_alive_at: 100_000, since: 500_000, own_until: 530_000, stock_until: 590_000 };
        assert!(grace.covers(&executor(Some("b"), 120_000), 529_999), "it was live when the last node was");
        assert!(!grace.covers(&executor(Some("b"), 120_000), 530_000), "a full lease has passed without a heartbeat");
        assert!(grace.covers(&executor(None, 120_000), 589_999), "stock executors have the longer lease");
        assert!(!grace.covers(&executor(Some("b"), 99_999), 500_000), "it was dead before");
    }
}
