//! How a thread of the HTTP server learns which of its runs are written.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc, oneshot};

/// Whether each run could be written, with the sender that the run's request waits for.
pub(crate) type Completions = Vec<(oneshot::Sender<bool>, bool)>;

/// One thread of the HTTP server, as seen by the journal.
///
/// The journal's thread sends all completions of a thread as one list, and the thread distributes them itself: that
/// wakes one thread instead of one task for each run.
#[derive(Clone)]
pub(crate) struct CompletionSink {
    /// Receives the completions.
    pub(crate) completions: mpsc::UnboundedSender<Completions>,
    /// Notified when a run was pushed. The thread calls [`Journal::wake`](super::Journal::wake) after it has read the
    /// other requests that are ready, so that they share one batch.
    pub(crate) pushed: Arc<Notify>,
}
