//! What waits to be written.
//!
//! At a thousand runs a second, waking threads costs more than all else. So a thread is woken once for many entries: the
//! writer when the server's thread has looked through all requests that are there, results wait for the next accepted
//! run or 2 ms, and those who wait for the writer are told in lists.

use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use carillon_protocol::CallbackItem;
use tokio::sync::{Notify, mpsc, oneshot};

/// For this time, results wait for an accepted run to be written with.
const DEFER: Duration = Duration::from_millis(2);

/// Answers for one thread that waits for several: it hands them out itself, which wakes nobody else.
pub(crate) type Answers = Vec<(oneshot::Sender<bool>, bool)>;

/// A thread of the server, as the journal knows it.
#[derive(Clone)]
pub(crate) struct Home {
    /// Gets the answers.
    pub(crate) answers: mpsc::UnboundedSender<Answers>,
    /// Told when a run was added; the thread then calls [`Journal::wake`](super::Journal::wake) once it has looked
    /// through the other requests.
    pub(crate) added: Arc<Notify>,
}

/// An accepted run, which waits.
pub(super) struct Accepted {
    pub(super) job_id: i32,
    pub(super) log_id: i64,
    pub(super) home: Home,
    pub(super) answer: oneshot::Sender<bool>,
}

/// What is written together.
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
    /// Whether somebody waits who cannot do anything else.
    fn is_urgent(&self) -> bool {
        self.close || !(self.runs.is_empty() && self.barriers.is_empty())
    }

    /// Whether anything in it must be on the disk before something else happens.
    pub(super) fn needs_sync(&self) -> bool {
        !(self.runs.is_empty() && self.barriers.is_empty() && self.results.is_empty())
    }
}

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    batch: Batch,
    sleep: Sleep,
    closed: bool,
}

/// What the writer waits for.
#[derive(Default, PartialEq)]
enum Sleep {
    /// Nothing: it works, or was woken.
    #[default]
    No,
    /// Something urgent.
    Light,
    /// Anything.
    Deep,
}

impl Queue {
    /// Adds to the batch, and wakes the writer if it must be. After the close nothing is added: who waits is refused.
    pub(super) fn add(&self, change: impl FnOnce(&mut Batch)) {
        self.add_quietly(change);
        self.wake();
    }

    /// Adds to the batch; [`wake`](Self::wake) must follow soon.
    pub(super) fn add_quietly(&self, change: impl FnOnce(&mut Batch)) {
        let mut state = self.lock();
        if !state.closed {
            change(&mut state.batch);
            state.closed = state.batch.close;
        }
    }

    /// Wakes the writer, if it sleeps and there is something that it must be woken for.
    pub(super) fn wake(&self) {
        let mut state = self.lock();
        let wake = match state.sleep {
            Sleep::No => false,
            Sleep::Light => state.batch.is_urgent(),
            Sleep::Deep => !state.batch.lines.is_empty() || state.batch.is_urgent(),
        };
        if wake {
            state.sleep = Sleep::No;
            drop(state);
            self.wake.notify_one();
        }
    }

    /// Waits for the next batch.
    pub(super) fn next(&self) -> Batch {
        let mut state = self.lock();
        while !state.batch.is_urgent() {
            if state.batch.lines.is_empty() {
                state.sleep = Sleep::Deep;
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.sleep = Sleep::Light;
            let waited = self.wake.wait_timeout(state, DEFER);
            let (woken, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if waited.timed_out() {
                break;
            }
        }
        state.sleep = Sleep::No;
        take(&mut state.batch)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
