//! The executor's memory on disk: which runs it took and what came of them, until an admin has the results.
//!
//! One thread writes. Whatever waits for it is written and synced together (group commit), so that a thousand runs a
//! second cost a few dozen syncs and nobody waits for more than two. The invariant: a run is answered "accepted" only
//! after its line is durable, and a result is called back only after its line is.

mod past;
mod record;
mod segments;
mod writer;

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use carillon_protocol::CallbackItem;
use tokio::sync::{mpsc, oneshot};

use crate::Error;
use crate::outbox::Mail;
use crate::run::Run;
use record::Record;

/// What a run that was accepted, and a result that was reported, survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The machine's crash: the journal is synced to the disk before an answer. Costs the disk's sync time, 0.1 to 5 ms.
    #[default]
    Machine,
    /// The process's crash or kill only: written, not synced. A run that was accepted just before a loss of power may
    /// then be forgotten, and run again if the admin asks again.
    Process,
}

/// What the journal of an earlier process held.
#[derive(Default)]
pub(crate) struct Recovered {
    /// Results that no admin has; among them "interrupted" for the runs that were cut off.
    pub(crate) unreported: Vec<CallbackItem>,
    /// Results that an admin has.
    pub(crate) reported: Vec<CallbackItem>,
    /// Fire key and attempt of runs, for those that had a key.
    pub(crate) attempts: Vec<(i64, String, i32)>,
}

enum Entry {
    Accept {
        record: Record,
        start: oneshot::Sender<()>,
        written: oneshot::Sender<bool>,
    },
    Result(CallbackItem),
    Acknowledged(Vec<i64>),
    Barrier(oneshot::Sender<bool>),
    Close,
}

/// The door to the writing thread.
#[derive(Clone)]
pub(crate) struct Journal {
    entries: Sender<Entry>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Journal {
    /// Reads what an earlier process left in `folder`, and starts to write. Results go to `outbox` once they are safe.
    pub(crate) fn open(
        folder: &Path,
        durability: Durability,
        outbox: mpsc::UnboundedSender<Mail>,
    ) -> Result<(Self, Recovered), Error> {
        let (segments, recovered) = segments::Segments::open(folder, durability, segments::LIMITS)?;
        let (entries, queue): (_, Receiver<Entry>) = channel();
        let thread = std::thread::Builder::new()
            .name("carillon-journal".to_owned())
            .spawn(move || writer::write(&queue, segments, &outbox))
            .map_err(|source| Error::data(folder, source))?;
        let thread = Arc::new(Mutex::new(Some(thread)));
        Ok((Self { entries, thread }, recovered))
    }

    /// Writes an accepted run. Once it is safe, `start` is told; the receiver says whether it is.
    pub(crate) fn accept(&self, run: &Run, start: oneshot::Sender<()>) -> oneshot::Receiver<bool> {
        let (written, answer) = oneshot::channel();
        let _ = self.entries.send(Entry::Accept {
            record: Record::accepted(run),
            start,
            written,
        });
        answer
    }

    /// Writes a result, which then goes to the outbox.
    pub(crate) fn result(&self, item: CallbackItem) {
        let _ = self.entries.send(Entry::Result(item));
    }

    /// Notes that an admin has these results.
    pub(crate) fn acknowledged(&self, ids: Vec<i64>) {
        let _ = self.entries.send(Entry::Acknowledged(ids));
    }

    /// Waits until everything given so far is safe; `false` if it cannot be written.
    pub(crate) async fn barrier(&self) -> bool {
        let (written, answer) = oneshot::channel();
        let _ = self.entries.send(Entry::Barrier(written));
        answer.await.unwrap_or(false)
    }

    /// Writes what is waiting and ends the thread. Later runs are refused.
    pub(crate) fn close(&self) {
        let _ = self.entries.send(Entry::Close);
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}
