//! The writing thread: takes a batch, writes it, syncs once, reports the completions.

use carillon_protocol::CallbackItem;
use tokio::sync::mpsc;

use super::segments::Segments;
use super::write_queue::{Accepted, Batch, CompletionSink, WriteQueue};

/// An accepted run that went through the journal.
pub(crate) struct JournaledRun {
    pub(crate) job_id: i32,
    pub(crate) log_id: i64,
    /// Whether it could be written; only then it may start.
    pub(crate) is_written: bool,
}

/// Where the writer reports.
pub(super) struct WriterOutput<R> {
    /// Receives the accepted runs, to start them.
    pub(super) accepted: mpsc::UnboundedSender<Vec<JournaledRun>>,
    /// Takes the results, to deliver them.
    pub(super) deliver: R,
}

/// Writes batches until the queue is closed.
pub(super) fn write<R: Fn(Vec<CallbackItem>)>(queue: &WriteQueue, mut segments: Segments, output: &WriterOutput<R>) {
    loop {
        let batch = queue.next();
        segments.add_open(batch.runs.iter().map(|run| run.log_id));
        segments.remove_open(batch.acknowledged.iter().copied());
        let written = segments.append(&batch.lines, batch.needs_sync());
        if let Err(error) = &written {
            tracing::error!(%error, "the executor's journal cannot be written");
            segments.remove_open(batch.runs.iter().map(|run| run.log_id));
        }
        let close = batch.close;
        output.report(batch, written.is_ok());
        if close {
            return;
        }
        segments.rotate();
    }
}

impl<R: Fn(Vec<CallbackItem>)> WriterOutput<R> {
    /// A run that could not be written is not started. A result that could not be written is delivered nevertheless:
    /// the next process would report the run as interrupted.
    fn report(&self, batch: Batch, is_written: bool) {
        if !batch.runs.is_empty() {
            let runs = batch.runs.iter();
            let runs = runs.map(|run| JournaledRun { job_id: run.job_id, log_id: run.log_id, is_written });
            let _ = self.accepted.send(runs.collect());
        }
        let mut sinks: Vec<(CompletionSink, Vec<_>)> = Vec::new();
        for Accepted { sink, written, .. } in batch.runs {
            match sinks.iter_mut().find(|(known, _)| known.completions.same_channel(&sink.completions)) {
                Some((_, completions)) => completions.push((written, is_written)),
                None => sinks.push((sink, vec![(written, is_written)])),
            }
        }
        for (sink, completions) in sinks {
            let _ = sink.completions.send(completions);
        }
        if !batch.results.is_empty() {
            (self.deliver)(batch.results);
        }
        // After the results: a barrier promises that they are in the outbox.
        for barrier in batch.barriers {
            let _ = barrier.send(is_written);
        }
    }
}
