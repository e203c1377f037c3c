//! The writing thread: takes what is there, writes it, syncs once, tells everybody.

use std::sync::mpsc::Receiver;

use carillon_protocol::CallbackItem;
use tokio::sync::{mpsc, oneshot};

use super::segments::Segments;
use super::{Entry, record};
use crate::outbox::Mail;

/// At most so many entries in one write, to bound the memory of a batch.
const BATCH: usize = 4096;

/// Who waits for a batch.
#[derive(Default)]
struct Waiting {
    runs: Vec<(i64, oneshot::Sender<()>, oneshot::Sender<bool>)>,
    results: Vec<CallbackItem>,
    barriers: Vec<oneshot::Sender<bool>>,
    close: bool,
}

/// Works until it is told to close, or nobody can give it anything any more.
pub(super) fn write(
    queue: &Receiver<Entry>,
    mut segments: Segments,
    outbox: &mpsc::UnboundedSender<Mail>,
) {
    while let Ok(first) = queue.recv() {
        let mut lines = String::new();
        let mut waiting = Waiting::default();
        waiting.take(first, &mut lines, &mut segments);
        for entry in queue.try_iter().take(BATCH) {
            waiting.take(entry, &mut lines, &mut segments);
        }
        let sync = waiting.is_anybody();
        let written = segments.append(&lines, sync);
        if let Err(error) = &written {
            tracing::error!(%error, "the executor's journal cannot be written");
            let refused: Vec<i64> = waiting.runs.iter().map(|run| run.0).collect();
            segments.settled(&refused);
        }
        let close = waiting.close;
        waiting.tell(written.is_ok(), outbox);
        if close {
            return;
        }
        segments.rotate();
    }
}

impl Waiting {
    fn take(&mut self, entry: Entry, lines: &mut String, segments: &mut Segments) {
        match entry {
            Entry::Accept {
                record,
                start,
                written,
            } => {
                record.write(lines);
                let log_id = record.log_id().unwrap_or_default();
                segments.opened(log_id);
                self.runs.push((log_id, start, written));
            }
            Entry::Result(item) => {
                record::write_item(lines, &item);
                self.results.push(item);
            }
            Entry::Acknowledged(ids) => {
                record::write_acknowledged(lines, &ids);
                segments.settled(&ids);
            }
            Entry::Barrier(barrier) => self.barriers.push(barrier),
            Entry::Close => self.close = true,
        }
    }

    fn is_anybody(&self) -> bool {
        !(self.runs.is_empty() && self.results.is_empty() && self.barriers.is_empty())
    }

    /// A run that could not be written is not started. A result that could not be is called back all the same: that is
    /// the best chance that is left.
    fn tell(self, written: bool, outbox: &mpsc::UnboundedSender<Mail>) {
        for (_, start, answer) in self.runs {
            if written {
                let _ = start.send(());
            }
            let _ = answer.send(written);
        }
        for barrier in self.barriers {
            let _ = barrier.send(written);
        }
        for item in self.results {
            let _ = outbox.send(Mail::Result(item));
        }
    }
}

#[cfg(test)]
mod tests {
    use carillon_protocol::CallbackItem;
    use tokio::sync::mpsc;

    use crate::Durability;
    use crate::journal::Journal;
    use crate::outbox::Mail;

    #[test]
    fn what_comes_after_the_close_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (outbox, mut mail) = mpsc::unbounded_channel();
        let (journal, _) = Journal::open(folder.path(), Durability::Machine, outbox).unwrap();
        let item = CallbackItem {
            log_id: 1,
            code: 200,
            ..CallbackItem::default()
        };
        journal.result(item.clone());
        journal.close();
        assert!(matches!(mail.try_recv(), Ok(Mail::Result(sent)) if sent == item));
        let barrier = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        assert!(!barrier.block_on(journal.barrier()));
    }
}
