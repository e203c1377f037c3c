//! The entries that wait for the writer.
//!
//! At a thousand runs a second, most of the cost is waking threads. So one wake serves many entries: the server's thread
//! wakes the writer after it has read all requests that are ready, a result waits up to 2 ms for the next accepted run,
//! and the writer reports completions in lists.

use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::CallbackItem;
use parking_lot::{Condvar, Mutex};
use tokio::sync::{Notify, mpsc, oneshot};

/// How long results and acknowledgements wait for an urgent entry to be written with.
const DEFER: Duration = Duration::from_millis(2);

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

/// An accepted run that waits to be written.
pub(super) struct Accepted {
    pub(super) job_id: i32,
    pub(super) log_id: i64,
    pub(super) sink: CompletionSink,
    /// Receives whether the run is written, through the sink.
    pub(super) written: oneshot::Sender<bool>,
}

/// The entries that are written together.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) lines: String,
    pub(super) runs: Vec<Accepted>,
    pub(super) results: Vec<CallbackItem>,
    pub(super) acknowledged: Vec<i64>,
    pub(super) barriers: Vec<oneshot::Sender<bool>>,
    pub(super) close: bool,
}

impl Batch {
    /// Whether a request or a barrier waits for it.
    fn is_urgent(&self) -> bool {
        self.close || !(self.runs.is_empty() && self.barriers.is_empty())
    }

    /// Whether an entry must be on the disk before the executor may go on.
    pub(super) fn needs_sync(&self) -> bool {
        !(self.runs.is_empty() && self.barriers.is_empty() && self.results.is_empty())
    }
}

#[derive(Default)]
pub(super) struct WriteQueue {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    batch: Batch,
    writer: WriterWait,
    closed: bool,
}

/// What the writer waits for.
#[derive(Default, PartialEq)]
enum WriterWait {
    /// It does not wait: it writes, or was woken.
    #[default]
    Awake,
    /// An urgent entry.
    Urgent,
    /// Any entry.
    Any,
}

impl WriteQueue {
    /// Adds to the batch, and wakes the writer if necessary.
    pub(super) fn push_and_wake(&self, change: impl FnOnce(&mut Batch)) {
        self.push(change);
        self.wake();
    }

    /// Adds to the batch; [`wake`](Self::wake) must follow soon. After the close the entry is dropped, which closes the
    /// channel that its sender waits on.
    pub(super) fn push(&self, change: impl FnOnce(&mut Batch)) {
        let mut state = self.state.lock();
        if !state.closed {
            change(&mut state.batch);
            state.closed = state.batch.close;
        }
    }

    /// Wakes the writer, if the batch has an entry that it waits for.
    pub(super) fn wake(&self) {
        let mut state = self.state.lock();
        let wake = match state.writer {
            WriterWait::Awake => false,
            WriterWait::Urgent => state.batch.is_urgent(),
            WriterWait::Any => !state.batch.lines.is_empty() || state.batch.is_urgent(),
        };
        if wake {
            state.writer = WriterWait::Awake;
            drop(state);
            self.woken.notify_one();
        }
    }

    /// Waits for the next batch.
    pub(super) fn next(&self) -> Batch {
        let mut state = self.state.lock();
        while !state.batch.is_urgent() {
            if state.batch.lines.is_empty() {
                state.writer = WriterWait::Any;
                self.woken.wait(&mut state);
                continue;
            }
            state.writer = WriterWait::Urgent;
            if self.woken.wait_for(&mut state, DEFER).timed_out() {
                break;
            }
        }
        state.writer = WriterWait::Awake;
        take(&mut state.batch)
    }
}
