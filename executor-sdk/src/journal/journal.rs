//! The journal as the rest of the executor uses it.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use carillon_protocol::CallbackItem;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::record;
use super::segments::{Durability, LIMITS, Segments};
use super::write_queue::{Accepted, CompletionSink, WriteQueue};
use super::writer::{self, JournaledRun, WriterOutput};
use crate::error::Error;
use crate::run::{RecoveredRuns, Run};

/// The journal; cheap to clone. The last clone ends the writing thread.
#[derive(Clone)]
pub(crate) struct Journal {
    handle: Arc<JournalHandle>,
}

/// The writing thread and its queue.
struct JournalHandle {
    id: String,
    queue: Arc<WriteQueue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Reads the journal of an earlier process in `folder`, and starts the writing thread. Once they are written,
    /// accepted runs go to `accepted` and results to `deliver`.
    pub(crate) fn open(
        folder: &Path,
        durability: Durability,
        accepted: mpsc::UnboundedSender<Vec<JournaledRun>>,
        deliver: impl Fn(Vec<CallbackItem>) + Send + 'static,
    ) -> Result<(Self, RecoveredRuns), Error> {
        let (segments, recovered) = Segments::open(folder, durability, LIMITS)?;
        let id = segments.journal_id().to_owned();
        let queue = Arc::new(WriteQueue::default());
        let (batches, output) = (Arc::clone(&queue), WriterOutput { accepted, deliver });
        let thread = std::thread::Builder::new()
            .name("carillon-journal".to_owned())
            .spawn(move || writer::write(&batches, segments, &output))
            .map_err(|source| Error::data(folder, source))?;
        let handle = Arc::new(JournalHandle { id, queue, thread: Mutex::new(Some(thread)) });
        Ok((Self { handle }, recovered))
    }

    /// The id of the journal, the same after a restart.
    pub(crate) fn id(&self) -> &str {
        &self.handle.id
    }

    /// Writes an accepted run. The receiver gets, through `sink`, whether it is written.
    pub(crate) fn accept(&self, run: &Run, sink: &CompletionSink) -> oneshot::Receiver<bool> {
        let (written, is_written) = oneshot::channel();
        let (log_id, job_id) = (run.request.log_id, run.request.job_id);
        let due_at = run.request.log_date_time;
        let fire_key = run.meta.fire_key.as_deref();
        self.handle.queue.push(|batch| {
            record::write_accepted(&mut batch.lines, log_id, due_at, run.meta.attempt, fire_key);
            batch.runs.push(Accepted { job_id, log_id, sink: sink.clone(), written });
        });
        sink.pushed.notify_one();
        is_written
    }

    /// Wakes the writer for the runs that were accepted.
    pub(crate) fn wake(&self) {
        self.handle.queue.wake();
    }

    /// Writes a result, which is then delivered.
    pub(crate) fn result(&self, item: CallbackItem) {
        self.handle.queue.push_and_wake(|batch| {
            record::write_result_of(&mut batch.lines, &item);
            batch.results.push(item);
        });
    }

    /// Notes that an admin has these results.
    pub(crate) fn acknowledge(&self, ids: &[i64]) {
        self.handle.queue.push_and_wake(|batch| {
            record::write_acknowledged(&mut batch.lines, ids);
            batch.acknowledged.extend(ids);
        });
    }

    /// Waits until all earlier entries are written; `false` if they cannot be.
    pub(crate) async fn barrier(&self) -> bool {
        let (written, is_written) = oneshot::channel();
        self.handle.queue.push_and_wake(|batch| batch.barriers.push(written));
        is_written.await.unwrap_or(false)
    }

    /// Writes the waiting entries and ends the thread. Later runs are refused.
    pub(crate) fn close(&self) {
        self.handle.close();
    }
}

impl JournalHandle {
    fn close(&self) {
        self.queue.push_and_wake(|batch| batch.close = true);
        let mut thread = self.thread.lock();
        if let Some(thread) = thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for JournalHandle {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_after_the_close_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (results, mut delivered) = mpsc::unbounded_channel();
        let (accepted, mut runs) = mpsc::unbounded_channel();
        let (completions, _completed) = mpsc::unbounded_channel();
        let sink = CompletionSink { completions, pushed: Arc::default() };
        let deliver = move |items| drop(results.send(items));
        let (journal, _) = Journal::open(folder.path(), Durability::Machine, accepted, deliver).unwrap();
        let run = Run::new(carillon_protocol::RunRequest::default(), Default::default());
        let _first = journal.accept(&run, &sink);
        journal.result(run.result(200, None));
        journal.close();
        assert_eq!(delivered.try_recv().unwrap().len(), 1);
        assert!(runs.try_recv().unwrap()[0].is_written);

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(!runtime.block_on(journal.barrier()));
        assert!(runtime.block_on(journal.accept(&run, &sink)).is_err());
    }
}
