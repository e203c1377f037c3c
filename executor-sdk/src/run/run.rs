//! A run that was accepted: its request, the signal to stop, its result.

use std::sync::OnceLock;
use std::time::Duration;

use carillon_protocol::{CallbackItem, FAILURE, RunRequest};
use tokio_util::sync::CancellationToken;

/// Result texts are cut here, as in Java.
const MAX_MESSAGE_CHARS: usize = 50_000;

/// What Carillon's headers say about a run; an admin of xxl-job sends none of them.
#[derive(Default)]
pub(crate) struct RunMeta {
    pub(crate) fire_key: Option<String>,
    /// UTC epoch milliseconds.
    pub(crate) scheduled_at: Option<i64>,
    /// From 1.
    pub(crate) attempt: u32,
    /// UTC epoch milliseconds; the run is refused when it arrives later.
    pub(crate) not_after: Option<i64>,
    /// See [`PHASE`](carillon_protocol::headers::PHASE).
    pub(crate) phase: Option<String>,
    /// The W3C trace context of the run.
    pub(crate) traceparent: Option<String>,
    /// When its request was read, by this machine's clock, UTC epoch milliseconds.
    pub(crate) received_at: i64,
}

/// A run that was accepted.
pub(crate) struct Run {
    pub(crate) request: RunRequest,
    pub(crate) meta: RunMeta,
    /// Cancelled when the handler must end.
    pub(crate) stop: CancellationToken,
    /// Why it was cancelled; unset while it was not, and when its time is up.
    cancel_reason: OnceLock<String>,
}

impl Run {
    pub(crate) fn new(request: RunRequest, meta: RunMeta) -> Self {
        Self { request, meta, stop: CancellationToken::new(), cancel_reason: OnceLock::new() }
    }

    /// What the handler logs through `tracing` carries its fields.
    pub(crate) fn span(&self) -> tracing::Span {
        let RunRequest { log_id, job_id, .. } = self.request;
        tracing::info_span!("run", run.id = log_id, job.id = job_id, trace.id = self.trace_id())
    }

    /// The second member of `traceparent`; empty if there is none.
    fn trace_id(&self) -> &str {
        let traceparent = self.meta.traceparent.as_deref().unwrap_or_default();
        traceparent.split('-').nth(1).unwrap_or_default()
    }

    /// Cancels the run; the first reason is kept.
    pub(crate) fn cancel(&self, reason: &str) {
        let _ = self.cancel_reason.set(reason.to_owned());
        self.stop.cancel();
    }

    pub(crate) fn cancel_reason(&self) -> Option<&str> {
        self.cancel_reason.get().map(String::as_str)
    }

    pub(crate) fn time_limit(&self) -> Option<Duration> {
        let seconds = u64::try_from(self.request.timeout_seconds).ok()?;
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// The result of the run with this code and text.
    pub(crate) fn result(&self, code: i32, message: Option<String>) -> CallbackItem {
        CallbackItem {
            log_id: self.request.log_id,
            log_date_time: self.request.log_date_time,
            code,
            message: message.map(cut),
            received_at: self.meta.received_at,
        }
    }

    /// The result of a run that was cancelled while it waited in the queue.
    pub(crate) fn not_executed(&self, reason: &str) -> CallbackItem {
        let message = format!("{reason} [job not executed, in the job queue, killed.]");
        self.result(FAILURE, Some(message))
    }
}

/// Cuts a result text and marks the cut.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_MESSAGE_CHARS) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGE_CHARS, cut};

    // covers: 001-33
    #[test]
    fn a_long_result_is_cut_with_a_mark() {
        assert_eq!(cut("ß".repeat(MAX_MESSAGE_CHARS)).chars().count(), 50_000);
        let long = cut("ß".repeat(MAX_MESSAGE_CHARS + 1));
        assert_eq!(long.chars().count(), 50_003);
        assert!(long.ends_with("ß..."));
    }
}
