//! A running executor and its shutdown: in order, or at once.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::admin::{Heartbeats, OutboxMessage};
use crate::journal::DataDir;
use crate::journal::Journal;
use crate::lane::{CANCEL_GRACE, Lanes};
use crate::loops::Loops;

/// Admins may send runs for another second after the deregistration: that is how often they read their executors.
const LINGER: Duration = Duration::from_secs(1);
const DEREGISTER_LIMIT: Duration = Duration::from_secs(3);
const FLUSH_LIMIT: Duration = Duration::from_secs(5);
const STOPPING: &str = "the executor is stopping";
const INTERRUPTED: &str = "interrupted: the executor is stopping";

/// A running executor. The caller must call [`end`](Self::end), also after an error: a drop leaves the HTTP server running.
pub(crate) struct RunningExecutor {
    pub(crate) server: JoinHandle<io::Result<()>>,
    pub(crate) server_handle: ServerHandle,
    pub(crate) heartbeats: Arc<Heartbeats>,
    pub(crate) heartbeat_task: JoinHandle<()>,
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) loops: Arc<Loops>,
    pub(crate) journal: Journal,
    pub(crate) outbox: mpsc::UnboundedSender<OutboxMessage>,
    pub(crate) _tasks: JoinSet<()>,
    /// Unlocked last, after the journal is closed.
    pub(crate) _data_dir: DataDir,
}

impl RunningExecutor {
    /// Works until the signal to stop, and stops in order, see [`Executor::run`](crate::Executor::run). An error: the HTTP
    /// server has ended on its own.
    pub(crate) async fn work_until_stopped(&mut self, stop: &CancellationToken, grace: Duration) -> io::Result<()> {
        tokio::select! {
            () = stop.cancelled() => {}
            ended = &mut self.server => return ended.map_err(io::Error::other).and_then(|ended| ended),
        }
        self.stop(grace).await;
        Ok(())
    }

    async fn stop(&mut self, grace: Duration) {
        let signalled = Instant::now();
        self.loops.close(STOPPING);
        // Waits for a heartbeat that is being sent: it must not arrive after the deregistration.
        self.heartbeats.stop.cancel();
        let _ = timeout(DEREGISTER_LIMIT, &mut self.heartbeat_task).await;
        self.heartbeat_task.abort();
        let _ = timeout(DEREGISTER_LIMIT, self.heartbeats.deregister()).await;
        // After the deregistration: this executor is not chosen again.
        let _ = timeout(DEREGISTER_LIMIT, self.loops.release(&self.heartbeats.admins)).await;
        sleep(LINGER.min(grace / 10)).await;
        self.lanes.close(STOPPING);
        let left = grace.saturating_sub(signalled.elapsed());
        if timeout(left, self.emptied()).await.is_err() {
            self.lanes.cancel_all(INTERRUPTED);
            self.loops.cancel_calls(INTERRUPTED);
            let limit = CANCEL_GRACE + Duration::from_secs(1);
            if timeout(limit, self.emptied()).await.is_err() {
                self.lanes.report_unfinished(INTERRUPTED);
            }
        }
        if timeout(FLUSH_LIMIT, self.flush()).await.is_err() {
            tracing::warn!("results stay in the journal; no admin accepted them");
        }
        self.server_handle.stop(true).await;
        tracing::info!("executor stopped");
    }

    async fn emptied(&self) {
        self.lanes.emptied().await;
        self.loops.calls_ended().await;
    }

    /// Ends everything at once.
    pub(crate) async fn end(self) {
        self.lanes.abort();
        self.loops.abort();
        self.heartbeat_task.abort();
        self.server_handle.stop(false).await;
        self.lanes.close(STOPPING);
        self.journal.close();
    }

    /// Waits until an admin has all results.
    async fn flush(&self) {
        self.journal.barrier().await;
        let (flush, flushed) = oneshot::channel();
        let _ = self.outbox.send(OutboxMessage::Flush(flush));
        self.heartbeats.reachable.notify_one();
        // The outbox drops the sender when all results are delivered, so an error is the expected answer.
        let _ = flushed.await;
    }
}
