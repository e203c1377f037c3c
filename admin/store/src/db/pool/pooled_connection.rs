//! A connection while it is out of its pool, and when it may go back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::{DbBackend, DbErr, RuntimeErr, sqlx};
use tokio::sync::OwnedSemaphorePermit;

use crate::db::pool::broken;
use crate::db::pool::raw_connection::RawConnection;
use crate::db::pool::shared::{Idle, Shared};

const MAX_AGE: Duration = Duration::from_secs(1800);
const SIGN_OFF: Duration = Duration::from_secs(1);

pub(crate) struct PooledConnection {
    /// `None` only while it is dropped.
    raw: Option<RawConnection>,
    opened_at: Instant,
    epoch: u64,
    /// How long one statement may take.
    limit: Duration,
    /// A statement is under way, or has ended so that it is not known what the server will send next. Such a connection is
    /// closed: to ask it whether it is still there (as the pool of sqlx does on each return) may never end.
    in_doubt: bool,
    shared: Arc<Shared>,
    /// Given back after the connection: see the order in `drop`.
    _permits: [Option<OwnedSemaphorePermit>; 2],
}

impl PooledConnection {
    pub fn new(
        raw: RawConnection,
        opened_at: Instant,
        epoch: u64,
        shared: Arc<Shared>,
        permits: [Option<OwnedSemaphorePermit>; 2],
    ) -> Self {
        Self {
            raw: Some(raw),
            opened_at,
            epoch,
            limit: shared.limits.statement,
            in_doubt: false,
            shared,
            _permits: permits,
        }
    }

    pub fn backend(&self) -> DbBackend {
        self.shared.target.backend()
    }

    pub fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    pub fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// The connection will be closed instead of being lent again.
    pub fn discard(&mut self) {
        self.in_doubt = true;
    }

    /// One exchange with the server. Nothing is known of its outcome when no answer came in time.
    pub async fn run<T>(&mut self, work: impl AsyncFnOnce(&mut RawConnection) -> sqlx::Result<T>) -> Result<T, DbErr> {
        let limit = self.limit;
        let Some(raw) = self.raw.as_mut() else {
            return Err(DbErr::Custom("the connection has been closed".into()));
        };
        self.in_doubt = true;
        raw.interrupt_after(self.shared.limits.interrupt);
        match tokio::time::timeout(limit, work(raw)).await {
            Ok(Ok(answer)) => {
                raw.interrupt_after(None);
                self.in_doubt = false;
                Ok(answer)
            }
            Ok(Err(error)) => {
                raw.interrupt_after(None);
                self.in_doubt = broken::is_broken(&error);
                if broken::is_lost(&error) {
                    self.shared.health.suspect(self.epoch);
                }
                Err(DbErr::Query(RuntimeErr::SqlxError(Arc::new(error))))
            }
            Err(_) => {
                self.shared.health.suspect(self.epoch);
                tracing::warn!(
                    pool.name = self.shared.name,
                    "the database has not answered a statement within {limit:?}; the connection is closed"
                );
                Err(broken::timed_out(format!("no answer to a statement within {limit:?}")))
            }
        }
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some(raw) = self.raw.take() else {
            return;
        };
        if self.in_doubt || !self.shared.health.is_current(self.epoch) {
            // What a SQLite thread is still at ends now; elsewhere the socket is closed without a word.
            raw.interrupt_after(Some(Duration::ZERO));
            return;
        }
        let too_old = self.shared.is_remote() && self.opened_at.elapsed() > MAX_AGE;
        if too_old && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { tokio::time::timeout(SIGN_OFF, raw.close()).await });
            return;
        }
        self.shared.put_back(Idle { raw, opened_at: self.opened_at, since: Instant::now(), epoch: self.epoch });
    }
}
