//! An executor at work, and how it ends: in order, or at once.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::journal::Journal;
use crate::lane::Lanes;
use crate::outbox::Mail;
use crate::registration::Beats;
use crate::run::CANCEL_GRACE;

/// Admins may go on sending for a second after the good-bye: they read their list of executors so often.
const LINGER: Duration = Duration::from_secs(1);
const LEAVE_LIMIT: Duration = Duration::from_secs(3);
const FLUSH_LIMIT: Duration = Duration::from_secs(5);
const STOPPING: &str = "the executor is stopping";
const INTERRUPTED: &str = "interrupted: the executor is stopping";

/// An executor at work. Dropping it ends everything at once.
pub(crate) struct Working {
    pub(crate) server: JoinHandle<std::io::Result<()>>,
    pub(crate) server_handle: ServerHandle,
    pub(crate) beats: Arc<Beats>,
    pub(crate) beating: JoinHandle<()>,
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) journal: Journal,
    pub(crate) outbox: mpsc::UnboundedSender<Mail>,
    pub(crate) _tasks: JoinSet<()>,
    pub(crate) lock: File,
}

impl Working {
    /// Stops in order, see [`Executor::run`](crate::Executor::run).
    pub(crate) async fn stop(mut self, grace: Duration) {
        let asked = Instant::now();
        // A beat on its way is waited for: it must not arrive after the good-bye.
        self.beats.leaving.cancel();
        let _ = timeout(LEAVE_LIMIT, &mut self.beating).await;
        self.beating.abort();
        let _ = timeout(LEAVE_LIMIT, self.beats.leave()).await;
        sleep(LINGER.min(grace / 10)).await;
        self.lanes.close(STOPPING);
        let left = grace.saturating_sub(asked.elapsed());
        if timeout(left, self.lanes.emptied()).await.is_err() {
            self.lanes.end_everything(INTERRUPTED);
            let limit = CANCEL_GRACE + Duration::from_secs(1);
            if timeout(limit, self.lanes.emptied()).await.is_err() {
                self.lanes.abandon(INTERRUPTED);
            }
        }
        if timeout(FLUSH_LIMIT, self.flush()).await.is_err() {
            tracing::warn!("results stay in the journal, no admin took them");
        }
        self.server_handle.stop(true).await;
        tracing::info!("executor stopped");
    }

    /// Waits until an admin has all results.
    async fn flush(&self) {
        self.journal.barrier().await;
        let (flush, flushed) = oneshot::channel();
        let _ = self.outbox.send(Mail::Flush(flush));
        self.beats.reachable.notify_one();
        // It is dropped, not answered: that is what is waited for.
        let _ = flushed.await;
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.lanes.abort();
        self.beating.abort();
        // The command is on its way with the call; the answer is of no use here.
        drop(self.server_handle.stop(false));
        self.lanes.close(STOPPING);
        self.journal.close();
        let _ = self.lock.unlock();
    }
}
