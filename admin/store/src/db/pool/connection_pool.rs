//! Connections to the database, and the limit of every exchange with it.
//!
//! The pool of sqlx is not used: it pings a connection on each return, without a limit and with the place still taken, so a
//! host that falls silent uses up all places until TCP gives up, about 15 minutes. Here a connection whose statement has not
//! ended is closed at once, and nothing is ever waited for without a limit.
//!
//! The invariant: a place is given back when the statement's limit has passed, whatever the network does.

use crate::db::pool::broken;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement, sqlx};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::db::pool::lent::Lent;
use crate::db::pool::link::Link;
use crate::db::pool::target::Target;
use crate::db::pool::transaction::Transaction;

/// Idle longer than this, and a server's connection is asked before it is lent.
const ASK_AFTER: Duration = Duration::from_millis(500);
const ASK: Duration = Duration::from_secs(1);
/// A connection that was idle for longer is replaced instead of asked. Shorter than the `wait_timeout` of the session on MySQL, so a
/// session that the server has ended for that is not taken for a sign that the server is gone.
const IDLE: Duration = Duration::from_secs(25);

#[derive(Clone, Copy)]
pub struct Limits {
    /// Waiting for a place and for a new connection.
    pub acquire: Duration,
    /// One exchange with the database.
    pub statement: Duration,
    /// SQLite interrupts a statement after this; servers are told in their session.
    pub interrupt: Option<Duration>,
}

/// Shared by the pools of one database. Each loss of a connection begins a new generation: the others go to the same host and
/// are not tried one after the other, at a statement's limit each.
#[derive(Default)]
pub struct Health(AtomicU64);

impl Health {
    fn current(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn is_current(&self, generation: u64) -> bool {
        self.current() == generation
    }

    /// A loss that belongs to an earlier generation says nothing about this one.
    pub(crate) fn suspect(&self, generation: u64) {
        let _ = self.0.compare_exchange(generation, generation + 1, Ordering::AcqRel, Ordering::Relaxed);
    }
}

#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
    /// Passed before a place is waited for. On SQLite changes by people and programs pass it one at a time, so that the engine
    /// finds at most one of them before it at the only writing connection.
    gate: Option<Arc<Semaphore>>,
}

pub(crate) struct Shared {
    pub(crate) name: &'static str,
    pub(crate) target: Target,
    session: Vec<String>,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Idle>>,
    pub(crate) limits: Limits,
    pub(crate) health: Arc<Health>,
}

pub(crate) struct Idle {
    pub(crate) link: Link,
    pub(crate) born: Instant,
    pub(crate) since: Instant,
    pub(crate) generation: u64,
}

impl Shared {
    pub(crate) fn is_remote(&self) -> bool {
        self.target.backend() != DbBackend::Sqlite
    }

    pub(crate) fn put_back(&self, idle: Idle) {
        let mut all = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(idle);
        if self.is_remote() && all[0].since.elapsed() > IDLE {
            all.remove(0);
        }
    }

    /// The one used last, since it is the least likely to be dead. Those of an earlier generation are closed here.
    fn take_idle(&self) -> Option<Idle> {
        let mut all = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|idle| {
            let rested = self.is_remote() && idle.since.elapsed() > IDLE;
            !rested && self.health.is_current(idle.generation)
        });
        all.pop()
    }

    async fn open(&self) -> sqlx::Result<Link> {
        let mut pause = Duration::from_millis(50);
        let mut last = None;
        let opened = tokio::time::timeout(self.limits.acquire, async {
            loop {
                match Link::open(&self.target, &self.session).await {
                    Err(error) if broken::is_starting(&error) => last = Some(error),
                    other => return other,
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
        });
        match opened.await {
            Ok(done) => done,
            Err(_) => Err(last.unwrap_or_else(|| {
                let text = format!("no connection within {:?}", self.limits.acquire);
                sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, text))
            })),
        }
    }
}

impl Pool {
    pub fn new(
        name: &'static str,
        size: usize,
        target: Target,
        session: Vec<String>,
        limits: Limits,
        health: &Arc<Health>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                name,
                target,
                session,
                places: Arc::new(Semaphore::new(size)),
                idle: Mutex::default(),
                limits,
                health: health.clone(),
            }),
            gate: None,
        }
    }

    /// The same connections, behind a gate that lets one caller at a time wait for them.
    pub fn behind_a_gate(&self) -> Self {
        Self { shared: self.shared.clone(), gate: Some(Arc::new(Semaphore::new(1))) }
    }

    /// Opens one connection now and keeps it; says why if there is none.
    pub async fn open_first(&self) -> sqlx::Result<()> {
        let generation = self.shared.health.current();
        let opening = Link::open(&self.shared.target, &self.shared.session);
        let link = tokio::time::timeout(self.shared.limits.acquire, opening)
            .await
            .map_err(|_| sqlx::Error::PoolTimedOut)??;
        let now = Instant::now();
        self.shared.put_back(Idle { link, born: now, since: now, generation });
        Ok(())
    }

    pub async fn begin(&self) -> Result<Transaction, DbErr> {
        Transaction::begin(self.lend().await?).await
    }

    /// For work whose statements may take long.
    pub async fn begin_within(&self, limit: Duration) -> Result<Transaction, DbErr> {
        let mut lent = self.lend().await?;
        lent.set_limit(limit);
        Transaction::begin(lent).await
    }

    pub async fn ping(&self) -> Result<(), DbErr> {
        self.lend().await?.run(async |link| link.ping().await).await
    }

    async fn lend(&self) -> Result<Lent, DbErr> {
        let shared = &self.shared;
        let waiting = async {
            let gate = match &self.gate {
                Some(gate) => Some(permit(gate).await?),
                None => None,
            };
            Ok::<_, DbErr>([Some(permit(&shared.places).await?), gate])
        };
        let permits = tokio::time::timeout(shared.limits.acquire, waiting).await.map_err(|_| {
            broken::timed_out(format!(
                "all connections of the pool `{}` have been busy for {:?}",
                shared.name, shared.limits.acquire
            ))
        })??;
        while let Some(mut idle) = shared.take_idle() {
            if !shared.is_remote() || idle.since.elapsed() < ASK_AFTER {
                return Ok(self.lent(idle, permits));
            }
            match tokio::time::timeout(ASK, idle.link.ping()).await {
                Ok(Ok(())) => return Ok(self.lent(idle, permits)),
                // Dropped, and with it all that were opened before.
                _ => shared.health.suspect(idle.generation),
            }
        }
        // Read before: what is lost while it is opened concerns this one too.
        let generation = shared.health.current();
        let link = shared.open().await.map_err(broken::connect_error)?;
        let now = Instant::now();
        let opened = Idle { link, born: now, since: now, generation };
        Ok(self.lent(opened, permits))
    }

    fn lent(&self, idle: Idle, permits: [Option<OwnedSemaphorePermit>; 2]) -> Lent {
        Lent::new(idle.link, idle.born, idle.generation, self.shared.clone(), permits)
    }
}

async fn permit(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, DbErr> {
    let closed = |_| DbErr::Custom("the pool is closed".into());
    semaphore.clone().acquire_owned().await.map_err(closed)
}

#[async_trait]
impl ConnectionTrait for Pool {
    fn get_database_backend(&self) -> DbBackend {
        self.shared.target.backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let mut lent = self.lend().await?;
        lent.run(async |link| link.execute(&statement).await).await
    }

    async fn execute_unprepared(&self, text: &str) -> Result<ExecResult, DbErr> {
        let mut lent = self.lend().await?;
        lent.run(async |link| link.simple(text).await).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let mut lent = self.lend().await?;
        lent.run(async |link| link.one(&statement).await).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let mut lent = self.lend().await?;
        lent.run(async |link| link.all(&statement).await).await
    }
}
