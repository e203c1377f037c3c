//! The writing thread: takes what is there, writes it, syncs once, tells everybody.

use tokio::sync::mpsc;

use super::Written;
use super::queue::{Accepted, Batch, Home, Queue};
use super::segments::Segments;
use crate::outbox::Mail;

/// Who is told of what is safe.
pub(super) struct Readers {
    /// Gets the accepted runs, to start them.
    pub(super) starter: mpsc::UnboundedSender<Vec<Written>>,
    /// Gets the results, to send them.
    pub(super) outbox: mpsc::UnboundedSender<Mail>,
}

/// Works until the queue is closed.
pub(super) fn write(queue: &Queue, mut segments: Segments, readers: &Readers) {
    loop {
        let batch = queue.next();
        batch.runs.iter().for_each(|run| segments.opened(run.log_id));
        segments.settled(batch.acknowledged.iter().copied());
        let written = segments.append(&batch.lines, batch.needs_sync());
        if let Err(error) = &written {
            tracing::error!(%error, "the executor's journal cannot be written");
            segments.settled(batch.runs.iter().map(|run| run.log_id));
        }
        let close = batch.close;
        readers.tell(batch, written.is_ok());
        if close {
            return;
        }
        segments.rotate();
    }
}

impl Readers {
    /// A run that could not be written is not started. A result that could not be is called back all the same: that is
    /// the best chance that is left.
    fn tell(&self, batch: Batch, safe: bool) {
        if !batch.runs.is_empty() {
            let runs = batch.runs.iter();
            let _ = self.starter.send(runs.map(|run| Written::new(run, safe)).collect());
        }
        let mut homes: Vec<(Home, Vec<_>)> = Vec::new();
        for Accepted { home, answer, .. } in batch.runs {
            match homes.iter_mut().find(|(known, _)| known.answers.same_channel(&home.answers)) {
                Some((_, answers)) => answers.push((answer, safe)),
                None => homes.push((home, vec![(answer, safe)])),
            }
        }
        for (home, answers) in homes {
            let _ = home.answers.send(answers);
        }
        if !batch.results.is_empty() {
            let _ = self.outbox.send(Mail::Results(batch.results));
        }
        // After the results: who waits at a barrier wants them to be in the outbox.
        for barrier in batch.barriers {
            let _ = barrier.send(safe);
        }
    }
}

impl Written {
    fn new(run: &Accepted, safe: bool) -> Self {
        Self { job_id: run.job_id, log_id: run.log_id, safe }
    }
}
