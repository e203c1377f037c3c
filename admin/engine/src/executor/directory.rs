//! The executors that runs can be sent to: a copy of the registrations, at most a second old.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use carillon_protocol::headers;
use carillon_scheduler::{Labels, Millis, ScriptKind};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::context::Context;
use crate::executor::tokens::ExecutorTokens;
use crate::settings::{Settings, ms};
use carillon_store as store;
use carillon_store::app::executors::{Executor, ExecutorSettings};
use carillon_store::run::mark::HTTP_REQUEST;

/// An executor that may be chosen.
#[derive(Clone, Debug)]
pub struct Candidate {
    registered: Arc<RegisteredExecutor>,
    /// It has missed two heartbeats: others are tried before it.
    pub suspect: bool,
}

/// A registration, with what need not be read for each run.
#[derive(Debug)]
pub struct RegisteredExecutor {
    executor: Executor,
    pub labels: Labels,
    pub weight: u32,
    /// It may be sent a run that it has already: it runs once, across its restarts too.
    pub keeps_a_journal: bool,
    /// It takes several runs in one request.
    pub takes_batches: bool,
    /// It fires jobs by itself.
    pub takes_loops: bool,
    /// The languages of the scripts that it runs.
    scripts: Vec<ScriptKind>,
}

impl RegisteredExecutor {
    /// `runs_scripts`: executors of its app that announce nothing run scripts.
    fn new(executor: Executor, runs_scripts: bool) -> Self {
        let is_unsaid = runs_scripts && executor.boot_id.is_none();
        let runs = |kind: &ScriptKind| is_unsaid || executor.has(kind.capability());
        Self {
            scripts: ScriptKind::ALL.iter().copied().filter(runs).collect(),
            labels: executor.labels(),
            weight: executor.weight(),
            keeps_a_journal: executor.has(headers::CAPABILITY_IDEM),
            takes_batches: executor.has(headers::CAPABILITY_BATCH),
            takes_loops: executor.has(headers::CAPABILITY_LOOP) && executor.boot_id.is_some(),
            executor,
        }
    }

    /// The service that an HTTP job calls: no registration, no labels, one request for each run.
    fn of_service(app: &str, origin: &str) -> Self {
        let executor = Executor {
            app: app.to_owned(),
            address: origin.to_owned(),
            boot_id: Some(HTTP_REQUEST.to_owned()),
            capabilities: None,
            journal_id: None,
            token_id: None,
            registered_at: 0,
            seen_at: 0,
            expires_at: Millis::MAX,
            announced: ExecutorSettings::default(),
            set: ExecutorSettings::default(),
            manual_since: None,
            draining_since: None,
        };
        Self::new(executor, false)
    }

    /// Marked runs that may wait for it; above that it is saturated. A request of the batch wire carries many. What is in doubt
    /// after a crash can be asked of a journal, so only an executor that keeps one may have more.
    pub fn capacity(&self, settings: &Settings) -> usize {
        if self.takes_batches && self.keeps_a_journal { 10 * settings.waiting } else { settings.waiting }
    }

    /// It runs scripts in this language.
    pub fn runs_script(&self, kind: ScriptKind) -> bool {
        self.scripts.contains(&kind)
    }

    /// It has missed two heartbeats: a lease is three.
    fn is_suspect(&self, now: Millis) -> bool {
        let lease = self.expires_at - self.seen_at;
        now > self.seen_at + lease * 2 / 3
    }
}

impl Deref for RegisteredExecutor {
    type Target = Executor;

    fn deref(&self) -> &Executor {
        &self.executor
    }
}

impl Deref for Candidate {
    type Target = RegisteredExecutor;

    fn deref(&self) -> &RegisteredExecutor {
        &self.registered
    }
}

impl Candidate {
    /// The service that an HTTP job calls.
    pub fn of_service(app: &str, origin: &str) -> Self {
        Self { registered: Arc::new(RegisteredExecutor::of_service(app, origin)), suspect: false }
    }
}

#[derive(Default)]
pub(crate) struct Snapshot {
    by_app: HashMap<String, Vec<Arc<RegisteredExecutor>>>,
}

/// No executor counts as dead while no node could take its heartbeats: those that were live when a node was last alive
/// keep their lease for its full length after this node's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaseGrace {
    last_alive_at: Millis,
    since: Millis,
    own_until: Millis,
    stock_until: Millis,
}

pub struct ExecutorDirectory {
    pub(crate) cx: Arc<Context>,
    pub(crate) tokens: Arc<ExecutorTokens>,
    pub(crate) snapshot: Mutex<Arc<Snapshot>>,
    pub(crate) grace: Mutex<Option<LeaseGrace>>,
    /// One refresh at a time: the older of two must not be kept.
    pub(crate) refreshing: tokio::sync::Mutex<()>,
    /// When the registrations were last read.
    pub(crate) read_at: AtomicI64,
    /// A registration has changed: wakes the refresher.
    pub changed: Arc<Notify>,
}

impl ExecutorDirectory {
    /// Executors that were live at that time have a full lease from now on.
    pub fn restart_lease_grace(&self, last_alive_at: Millis) {
        let now = self.cx.clock.now();
        let (own, stock) = (self.cx.settings.own_lease, self.cx.settings.stock_lease);
        let grace = LeaseGrace { last_alive_at, since: now, own_until: now + ms(own), stock_until: now + ms(stock) };
        *self.grace.lock() = Some(grace);
    }

    /// Until when a registration counts, for a run that may have lost its executor.
    pub fn lease_end(&self, expires_at: Millis, is_own: bool) -> Millis {
        let grace = *self.grace.lock();
        match grace {
            Some(grace) if expires_at >= grace.last_alive_at => {
                expires_at.max(if is_own { grace.own_until } else { grace.stock_until })
            }
            _ => expires_at,
        }
    }

    /// Calls `each` with every registration that has a lease, and until when it counts. One that a person entered has none.
    pub fn for_each_lease(&self, mut each: impl FnMut(&Executor, Millis)) {
        let snapshot = self.snapshot.lock().clone();
        for it in snapshot.by_app.values().flatten().filter(|it| it.manual_since.is_none()) {
            each(it, self.lease_end(it.expires_at, it.boot_id.is_some()));
        }
    }

    /// From when on a run that finds no executor may be given up: not for the time in which none could register.
    pub fn give_up_from(&self, due_at: Millis) -> Millis {
        let grace = *self.grace.lock();
        grace.map_or(due_at, |grace| grace.since.max(due_at))
    }

    /// Until when a run waits for an executor if it finds none.
    pub fn awaited_until(&self, due_at: Millis) -> Millis {
        self.give_up_from(due_at).saturating_add(ms(self.cx.settings.no_executor_after))
    }

    /// Executors whose lease is over may still count as live.
    pub fn is_in_grace(&self) -> bool {
        let (grace, now) = (*self.grace.lock(), self.cx.clock.now());
        grace.is_some_and(|grace| now < grace.own_until.max(grace.stock_until))
    }

    pub async fn refresh(&self) -> store::Result<()> {
        let _one = self.refreshing.lock().await;
        let mut snapshot = Snapshot::default();
        let mut executors = self.cx.store.apps().executors().await?;
        // Read after the registrations, so that each token is known by which one was made.
        let tokens = self.cx.store.apps().app_tokens().await?;
        let former_names = self.cx.store.apps().former_names().await?;
        let run_scripts = self.cx.store.apps().that_run_scripts().await?;
        self.tokens.names.update(former_names);
        self.tokens.update(tokens, &mut executors, self.cx.clock.now());
        for executor in executors {
            let app = executor.app.clone();
            let registered = RegisteredExecutor::new(executor, run_scripts.contains(&app));
            snapshot.by_app.entry(app).or_default().push(Arc::new(registered));
        }
        *self.snapshot.lock() = Arc::new(snapshot);
        Ok(())
    }

    /// Grows when an app is renamed, or a former name removed.
    pub fn names_version(&self) -> u64 {
        self.tokens.names.changes()
    }

    /// The live executors of an app, by address.
    pub fn live(&self, app: &str) -> Vec<Candidate> {
        let now = self.cx.clock.now();
        let snapshot = self.snapshot.lock().clone();
        let grace = *self.grace.lock();
        let Some(all) = snapshot.by_app.get(&*self.tokens.names.current(app)) else {
            return vec![];
        };
        let is_live =
            |it: &&Arc<RegisteredExecutor>| it.is_live(now) || grace.is_some_and(|grace| grace.covers(it, now));
        let candidate =
            |it: &Arc<RegisteredExecutor>| Candidate { registered: it.clone(), suspect: it.is_suspect(now) };
        all.iter().filter(is_live).map(candidate).collect()
    }

    /// Every request to an executor carries the access token. An address that is no longer registered may belong to another
    /// program by now: an address that was read from a run's row is looked up here before it is called.
    pub fn registered(&self, app: &str, address: &str) -> Result<Candidate, NotRegistered> {
        let found = self.live(app).into_iter().find(|it| it.address == address);
        found.ok_or_else(|| NotRegistered { address: address.to_owned(), app: app.to_owned() })
    }

    /// The registrations were just read. After a longer silence (of the database, or a pause of this process) no heartbeat
    /// could be taken meanwhile, and leases count from now.
    pub fn record_read(&self) {
        self.note_silence(self.read_at.swap(self.cx.clock.now(), Ordering::Relaxed));
    }

    /// The registrations could not be read. The copy knows nothing of heartbeats that came after it, so after the same silence
    /// no lease in it runs out before the database answers again.
    pub fn record_failed_read(&self) {
        self.note_silence(self.read_at.load(Ordering::Relaxed));
    }

    fn note_silence(&self, since: Millis) {
        if since > 0 && self.cx.clock.now() - since > OUTAGE_MS {
            self.restart_lease_grace(since);
        }
    }

    /// A heartbeat came and could not be stored.
    pub fn note_lost_heartbeat(&self) {
        self.restart_lease_grace(self.cx.clock.now());
    }
}

impl LeaseGrace {
    fn covers(&self, executor: &Executor, now: Millis) -> bool {
        let until = if executor.boot_id.is_some() { self.own_until } else { self.stock_until };
        executor.expires_at >= self.last_alive_at && now < until
    }
}

/// After a longer time without the database than this, leases count from its return.
const OUTAGE_MS: i64 = 5_000;

/// An address that was called before, and that no executor of the app has registered now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} is no longer registered as an executor of {app}, so it is not called")]
pub struct NotRegistered {
    address: String,
    app: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use carillon_store::app::executors::ExecutorSettings;

    fn executor(boot_id: Option<&str>, expires_at: Millis) -> Executor {
        Executor {
            app: "orders".into(),
            address: "http://10.0.0.1:9999/".into(),
            boot_id: boot_id.map(Into::into),
            capabilities: None,
            journal_id: None,
            token_id: None,
            registered_at: 0,
            seen_at: 0,
            expires_at,
            announced: ExecutorSettings::default(),
            set: ExecutorSettings::default(),
            manual_since: None,
            draining_since: None,
        }
    }

    // covers: 002-34
    #[test]
    fn no_executor_is_dead_while_no_heartbeat_could_be_taken() {
        // The last node was alive at 100 s; this one starts at 500 s.
        let grace = LeaseGrace { last_alive_at: 100_000, since: 500_000, own_until: 530_000, stock_until: 590_000 };
        assert!(grace.covers(&executor(Some("b"), 120_000), 529_999), "it was live when the last node was");
        assert!(!grace.covers(&executor(Some("b"), 120_000), 530_000), "a full lease has passed without a heartbeat");
        assert!(grace.covers(&executor(None, 120_000), 589_999), "stock executors have the longer lease");
        assert!(!grace.covers(&executor(Some("b"), 99_999), 500_000), "it was dead before");
    }
}
