//! Connections to the database, and the limit of every exchange with it.
//!
//! The pool of sqlx is not used: it pings a connection on each return, without a limit and with the place still taken, so a
//! host that falls silent uses up all places until TCP gives up, about 15 minutes. Here a connection whose statement has not
//! ended is closed at once, and nothing is ever waited for without a limit.
//!
//! The invariant: a place is given back when the statement's limit has passed, even if the network is silent.

use crate::db::pool::broken;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement, sqlx};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::db::pool::pooled_connection::PooledConnection;
use crate::db::pool::raw_connection::RawConnection;
use crate::db::pool::shared::{Health, Idle, Limits, Shared};
use crate::db::pool::target::Target;
use crate::db::pool::transaction::Transaction;

/// Idle longer than this, and a server's connection is asked before it is lent: not those that are used each second.
const ASK_AFTER: Duration = Duration::from_secs(2);
const ASK: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
    /// Passed before a place is waited for. On SQLite changes by people and programs pass it one at a time, so that the engine
    /// finds at most one of them before it at the only writing connection.
    gate: Option<Arc<Semaphore>>,
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
        let epoch = self.shared.health.current();
        let opening = RawConnection::open(&self.shared.target, &self.shared.session);
        let raw = tokio::time::timeout(self.shared.limits.acquire, opening)
            .await
            .map_err(|_| sqlx::Error::PoolTimedOut)??;
        let now = Instant::now();
        self.shared.put_back(Idle { raw, opened_at: now, since: now, epoch });
        Ok(())
    }

    pub async fn begin(&self) -> Result<Transaction, DbErr> {
        Transaction::begin(self.acquire().await?).await
    }

    /// For work whose statements may take long.
    pub async fn begin_within(&self, limit: Duration) -> Result<Transaction, DbErr> {
        let mut connection = self.acquire().await?;
        connection.set_limit(limit);
        Transaction::begin(connection).await
    }

    pub async fn ping(&self) -> Result<(), DbErr> {
        self.acquire().await?.run(async |raw| raw.ping().await).await
    }

    async fn acquire(&self) -> Result<PooledConnection, DbErr> {
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
                return Ok(self.pooled(idle, permits));
            }
            match tokio::time::timeout(ASK, idle.raw.ping()).await {
                Ok(Ok(())) => return Ok(self.pooled(idle, permits)),
                // Dropped, and with it all that were opened before.
                _ => shared.health.suspect(idle.epoch),
            }
        }
        // Read before: what is lost while it is opened concerns this one too.
        let epoch = shared.health.current();
        let raw = shared.open().await.map_err(broken::connect_error)?;
        let now = Instant::now();
        let opened = Idle { raw, opened_at: now, since: now, epoch };
        Ok(self.pooled(opened, permits))
    }

    fn pooled(&self, idle: Idle, permits: [Option<OwnedSemaphorePermit>; 2]) -> PooledConnection {
        PooledConnection::new(idle.raw, idle.opened_at, idle.epoch, self.shared.clone(), permits)
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
        let mut connection = self.acquire().await?;
        connection.run(async |raw| raw.execute(statement).await).await
    }

    async fn execute_unprepared(&self, text: &str) -> Result<ExecResult, DbErr> {
        let mut connection = self.acquire().await?;
        connection.run(async |raw| raw.simple(text).await).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let mut connection = self.acquire().await?;
        connection.run(async |raw| raw.one(statement).await).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let mut connection = self.acquire().await?;
        connection.run(async |raw| raw.all(statement).await).await
    }
}
