//! The executor's memory on disk: which runs it took and what came of them, until an admin has the results.
//!
//! One thread writes. Whatever waits for it is written and synced together (group commit), so that a thousand runs a
//! second cost a few dozen syncs and nobody waits for more than two. The invariant: a run is answered "accepted" only
//! after its line is durable, and a result is called back only after its line is.

mod identity;
mod past;
mod queue;
mod record;
mod segments;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use carillon_protocol::CallbackItem;
use tokio::sync::{mpsc, oneshot};

use crate::Error;
use crate::outbox::Mail;
use crate::run::Run;
use queue::{Accepted, Queue};
pub(crate) use queue::{Answers, Home};
use writer::Readers;

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
    /// Which journal it is, across restarts.
    pub(crate) journal_id: String,
    /// Results that no admin has; among them "interrupted" for the runs that were cut off.
    pub(crate) unreported: Vec<CallbackItem>,
    /// Results that an admin has.
    pub(crate) reported: Vec<CallbackItem>,
    /// Fire key and attempt of runs, for those that had a key.
    pub(crate) attempts: Vec<(i64, String, i32)>,
}

/// What the journal says of an accepted run.
pub(crate) struct Written {
    pub(crate) job_id: i32,
    pub(crate) log_id: i64,
    /// Whether it is written down, so that it may start.
    pub(crate) safe: bool,
}

/// The door to the writing thread.
#[derive(Clone)]
pub(crate) struct Journal {
    door: Arc<Door>,
}

struct Door {
    queue: Arc<Queue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Reads what an earlier process left in `folder`, and starts to write. Accepted runs go to `starter` and results
    /// to `outbox` once they are safe.
    pub(crate) fn open(
        folder: &Path,
        durability: Durability,
        starter: mpsc::UnboundedSender<Vec<Written>>,
        outbox: mpsc::UnboundedSender<Mail>,
    ) -> Result<(Self, Recovered), Error> {
        let (segments, recovered) = segments::Segments::open(folder, durability, segments::LIMITS)?;
        let queue = Arc::new(Queue::default());
        let (waiting, readers) = (Arc::clone(&queue), Readers { starter, outbox });
        let thread = std::thread::Builder::new()
            .name("carillon-journal".to_owned())
            .spawn(move || writer::write(&waiting, segments, &readers))
            .map_err(|source| Error::data(folder, source))?;
        let thread = Mutex::new(Some(thread));
        let door = Arc::new(Door { queue, thread });
        Ok((Self { door }, recovered))
    }

    /// Writes an accepted run. The receiver is told, by way of `home`, whether it is safe.
    pub(crate) fn accept(&self, run: &Run, home: &Home) -> oneshot::Receiver<bool> {
        let (answer, answered) = oneshot::channel();
        let (log_id, job_id) = (run.request.log_id, run.request.job_id);
        let due_at = run.request.log_date_time;
        let fire_key = run.meta.fire_key.as_deref();
        self.door.queue.add_quietly(|batch| {
            let lines = &mut batch.lines;
            record::write_accepted(lines, log_id, due_at, run.meta.attempt, fire_key);
            batch.runs.push(Accepted { job_id, log_id, home: home.clone(), answer });
        });
        home.added.notify_one();
        answered
    }

    /// Wakes the writer for the runs that were accepted.
    pub(crate) fn wake(&self) {
        self.door.queue.wake();
    }

    /// Writes a result, which then goes to the outbox.
    pub(crate) fn result(&self, item: CallbackItem) {
        self.door.queue.add(|batch| {
            record::write_item(&mut batch.lines, &item);
            batch.results.push(item);
        });
    }

    /// Notes that an admin has these results.
    pub(crate) fn acknowledged(&self, ids: &[i64]) {
        self.door.queue.add(|batch| {
            record::write_acknowledged(&mut batch.lines, ids);
            batch.acknowledged.extend(ids);
        });
    }

    /// Waits until everything given so far is safe; `false` if it cannot be written.
    pub(crate) async fn barrier(&self) -> bool {
        let (written, answer) = oneshot::channel();
        self.door.queue.add(|batch| batch.barriers.push(written));
        answer.await.unwrap_or(false)
    }

    /// Writes what is waiting and ends the thread. Later runs are refused.
    pub(crate) fn close(&self) {
        self.door.close();
    }
}

impl Door {
    fn close(&self) {
        self.queue.add(|batch| batch.close = true);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_after_the_close_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (outbox, mut mail) = mpsc::unbounded_channel();
        let (starter, mut runs) = mpsc::unbounded_channel();
        let (answers, _answered) = mpsc::unbounded_channel();
        let added = Arc::default();
        let home = Home { answers, added };
        let (journal, _) = Journal::open(folder.path(), Durability::Machine, starter, outbox).unwrap();
        let run = Run::new(carillon_protocol::RunRequest::default(), Default::default());
        let _first = journal.accept(&run, &home);
        journal.result(run.result(200, None));
        journal.close();
        assert!(matches!(mail.try_recv(), Ok(Mail::Results(sent)) if sent.len() == 1));
        assert!(runs.try_recv().unwrap()[0].safe);

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(!runtime.block_on(journal.barrier()));
        assert!(runtime.block_on(journal.accept(&run, &home)).is_err());
    }
}
