//! The executor's own thread: heartbeats, the start of accepted runs, delivery of results, the stop. Handlers that block all
//! threads of their runtime delay none of it.

use std::io;
use std::thread::{self, JoinHandle};

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::error::Error;

/// How the thread is asked to end.
#[derive(Clone, Default)]
pub(crate) struct EndSignals {
    /// In order.
    pub(crate) stop: CancellationToken,
    /// At once, as a crash would.
    pub(crate) abort: CancellationToken,
}

/// A thread with a runtime of its own. Dropping it ends its work at once.
pub(crate) struct OwnThread {
    signals: EndSignals,
    ended: oneshot::Receiver<Result<(), Error>>,
    thread: Option<JoinHandle<()>>,
}

impl OwnThread {
    /// Starts the thread, which does `work` until the work is done; it ends after one of the signals. Its events go to the
    /// `tracing` subscriber of the caller.
    pub(crate) fn start<F>(work: impl FnOnce(EndSignals) -> F + Send + 'static) -> Result<Self, Error>
    where
        F: Future<Output = Result<(), Error>>,
    {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Thread)?;
        let (signals, (end, ended)) = (EndSignals::default(), oneshot::channel());
        let of_thread = signals.clone();
        let subscriber = tracing::dispatcher::get_default(Clone::clone);
        let body = move || {
            let result = tracing::dispatcher::with_default(&subscriber, || runtime.block_on(work(of_thread)));
            // Logs may be being deleted; that is not waited for.
            runtime.shutdown_background();
            let _ = end.send(result);
        };
        let thread = thread::Builder::new().name("carillon-executor".to_owned()).spawn(body).map_err(Error::Thread)?;
        Ok(Self { signals, ended, thread: Some(thread) })
    }

    /// Lets the work go on until `shutdown` completes, then stops it in order.
    pub(crate) async fn work_until(mut self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let ended = tokio::select! {
            () = shutdown => {
                self.signals.stop.cancel();
                (&mut self.ended).await
            }
            ended = &mut self.ended => ended,
        };
        ended.unwrap_or_else(|_| Err(Error::Thread(io::Error::other("it has panicked"))))
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        self.signals.abort.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
