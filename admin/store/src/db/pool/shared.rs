//! What the connections of one pool have in common: where they go, their limits, and those that are idle.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::{DbBackend, sqlx};
use tokio::sync::Semaphore;

use crate::db::pool::broken;
use crate::db::pool::raw_connection::RawConnection;
use crate::db::pool::target::Target;

/// A connection that was idle for longer is replaced instead of asked. Shorter than the `wait_timeout` of the session on MySQL, so a
/// session that the server has ended for that is not taken for a sign that the server is gone.
const IDLE: Duration = Duration::from_secs(25);

#[derive(Clone, Copy)]
pub struct Limits {
    /// Waiting for a place and for a new connection.
    pub acquire: Duration,
    /// One exchange with the database.
    pub statement: Duration,
    /// SQLite interrupts a statement after this; servers have the limit in their session.
    pub interrupt: Option<Duration>,
}

/// Shared by the pools of one database. Each loss of a connection begins a new generation: the others go to the same host and
/// are not tried one after the other, at a statement's limit each.
#[derive(Default)]
pub struct Health(AtomicU64);

impl Health {
    pub(crate) fn current(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn is_current(&self, epoch: u64) -> bool {
        self.current() == epoch
    }

    /// A loss that belongs to an earlier generation says nothing about this one.
    pub(crate) fn suspect(&self, epoch: u64) {
        let _ = self.0.compare_exchange(epoch, epoch + 1, Ordering::AcqRel, Ordering::Relaxed);
    }
}

pub(crate) struct Shared {
    pub(crate) name: &'static str,
    pub(crate) target: Target,
    pub(crate) session: Vec<String>,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) idle: Mutex<Vec<Idle>>,
    pub(crate) limits: Limits,
    pub(crate) health: Arc<Health>,
}

pub(crate) struct Idle {
    pub(crate) raw: RawConnection,
    pub(crate) opened_at: Instant,
    pub(crate) since: Instant,
    pub(crate) epoch: u64,
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
    pub(crate) fn take_idle(&self) -> Option<Idle> {
        let mut all = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|idle| {
            let rested = self.is_remote() && idle.since.elapsed() > IDLE;
            !rested && self.health.is_current(idle.epoch)
        });
        all.pop()
    }

    pub(crate) async fn open(&self) -> sqlx::Result<RawConnection> {
        let mut pause = Duration::from_millis(50);
        let mut last = None;
        let opened = tokio::time::timeout(self.limits.acquire, async {
            loop {
                match RawConnection::open(&self.target, &self.session).await {
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
