//! One run: what was asked, how it ends, and the call of its handler.

use std::any::Any;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::Duration;

use carillon_protocol::{CallbackItem, FAILURE, RunRequest, SUCCESS, TIMEOUT};
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::JobContext;
use crate::handler::{BoxedHandler, JobError, Outcome};

/// How long a cancelled handler may take to end by itself before it is dropped.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_secs(5);
/// Result texts are cut here, as in Java.
const MAX_MESSAGE_CHARS: usize = 50_000;

/// What Carillon's headers say about a run.
#[derive(Default)]
pub(crate) struct Meta {
    pub(crate) fire_key: Option<String>,
    pub(crate) scheduled_at: Option<i64>,
    pub(crate) attempt: i32,
    pub(crate) not_after: Option<i64>,
}

/// A run that was taken.
pub(crate) struct Run {
    pub(crate) request: RunRequest,
    pub(crate) meta: Meta,
    /// Tells the handler to end.
    pub(crate) stop: CancellationToken,
    /// Why it was told to, unless its time was up.
    reason: OnceLock<String>,
}

impl Run {
    pub(crate) fn new(request: RunRequest, meta: Meta) -> Self {
        Self { request, meta, stop: CancellationToken::new(), reason: OnceLock::new() }
    }

    /// Tells a running handler to end; the first reason counts.
    pub(crate) fn end(&self, reason: &str) {
        let _ = self.reason.set(reason.to_owned());
        self.stop.cancel();
    }

    /// The result of a run with this code and text.
    pub(crate) fn result(&self, code: i32, message: Option<String>) -> CallbackItem {
        CallbackItem {
            log_id: self.request.log_id,
            log_date_time: self.request.log_date_time,
            code,
            message: message.map(cut),
        }
    }

    /// The result of a run that was told to end while it stood in the queue.
    pub(crate) fn not_executed(&self, reason: &str) -> CallbackItem {
        let message = format!("{reason} [job not executed, in the job queue, killed.]");
        self.result(FAILURE, Some(message))
    }

    fn time_limit(&self) -> Option<Duration> {
        let seconds = u64::try_from(self.request.timeout_seconds).ok()?;
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// Calls the handler and waits for its end, whichever comes first: by itself, killed, out of time.
    pub(crate) async fn perform(&self, handler: &dyn BoxedHandler, ctx: JobContext) -> CallbackItem {
        if let Some(reason) = self.reason.get() {
            return self.not_executed(reason);
        }
        let mut work = Box::pin(AssertUnwindSafe(async { handler.call(ctx).await }).catch_unwind());
        let timed_out = tokio::select! {
            biased;
            ended = &mut work => return self.ended(ended),
            () = self.stop.cancelled() => false,
            () = sleep(self.time_limit()) => true,
        };
        self.stop.cancel();
        let ended = tokio::time::timeout(CANCEL_GRACE, &mut work).await;
        // A destructor of the handler may panic as well; that must not end the job's queue.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(work)));
        match ended {
            _ if timed_out => self.result(TIMEOUT, Some("job execute timeout".to_owned())),
            Ok(ended) => self.ended(ended),
            Err(_) => self.killed(None),
        }
    }

    /// A run that succeeds although it was told to end has succeeded: to call it failed would let it be done twice.
    fn ended(&self, ended: Result<Result<Outcome, JobError>, Box<dyn Any + Send>>) -> CallbackItem {
        match ended {
            Ok(Ok(outcome)) => self.result(SUCCESS, outcome.0),
            Ok(Err(error)) if self.stop.is_cancelled() => self.killed(Some(error.message())),
            Err(_) if self.stop.is_cancelled() => self.killed(None),
            Ok(Err(error)) => self.result(FAILURE, Some(error.message().to_owned())),
            Err(panic) => self.result(FAILURE, Some(panic_text(&*panic))),
        }
    }

    /// The result of a run that was told to end, and did: why, and what the handler itself said of it.
    fn killed(&self, said: Option<&str>) -> CallbackItem {
        let reason = self.reason.get().map_or("cancelled", String::as_str);
        let mut text = format!("{reason} [job running, killed]");
        if let Some(said) = said.map(str::trim).filter(|said| !said.is_empty()) {
            text = format!("{text}: {said}");
        }
        self.result(FAILURE, Some(text))
    }
}

async fn sleep(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => pending().await,
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("handler panicked: {}", text.unwrap_or("no text"))
}

/// Cuts a result text, and says so.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_MESSAGE_CHARS) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Arc;
    use std::time::Duration;

    use carillon_protocol::{CallbackItem, RunRequest};
    use tokio::time::Instant;

    use super::{CANCEL_GRACE, MAX_MESSAGE_CHARS, Meta, Run, cut};
    use crate::handler::{BoxedHandler, JobError, Outcome};
    use crate::job_log::JobLogs;
    use crate::{JobContext, JobHandler};

    /// Performs a run under a clock that jumps; says how long it took.
    async fn perform(run: &Arc<Run>, handler: impl JobHandler) -> (CallbackItem, Duration) {
        let folder = tempfile::tempdir().unwrap();
        let log = JobLogs::new(folder.path()).unwrap().open(&run.request);
        let ctx = JobContext::new(Arc::clone(run), log);
        let begun = Instant::now();
        let item = run.perform(&handler as &dyn BoxedHandler, ctx).await;
        (item, begun.elapsed())
    }

    fn new_run(timeout_seconds: i32) -> Arc<Run> {
        let request = RunRequest { timeout_seconds, log_id: 1, ..RunRequest::default() };
        Arc::new(Run::new(request, Meta::default()))
    }

    // covers: 002-26
    #[tokio::test(start_paused = true)]
    async fn a_handler_that_ignores_its_time_limit_is_dropped() {
        let deaf = |_: JobContext| pending::<Result<(), JobError>>();
        let (item, took) = perform(&new_run(60), deaf).await;
        assert_eq!(item.code, 502);
        assert_eq!(took, Duration::from_secs(60) + CANCEL_GRACE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_handler_that_listens_ends_at_once() {
        let listens = |ctx: JobContext| async move {
            ctx.cancelled().await;
            Ok("too late")
        };
        let (item, took) = perform(&new_run(60), listens).await;
        assert_eq!((item.code, item.message.as_deref()), (502, Some("job execute timeout")));
        assert_eq!(took, Duration::from_secs(60));
        let no_limit = |_: JobContext| async {
            tokio::time::sleep(Duration::from_secs(1_000_000)).await;
            Ok(())
        };
        assert_eq!(perform(&new_run(0), no_limit).await.0.code, 200);
        assert_eq!(perform(&new_run(-1), no_limit).await.0.code, 200);
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_in_spite_of_a_kill_stays_a_success() {
        let run = new_run(0);
        let killed = Arc::clone(&run);
        let finishes = move |_: JobContext| {
            let killed = Arc::clone(&killed);
            async move {
                killed.end("kill");
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok("done all the same")
            }
        };
        assert_eq!(perform(&run, finishes).await.0.code, 200);

        let stops = new_run(0);
        let killed = Arc::clone(&stops);
        let handler = move |ctx: JobContext| {
            killed.end("kill");
            async move {
                ctx.cancelled().await;
                Err::<Outcome, _>(JobError::new("stopped at 3"))
            }
        };
        assert_eq!(
            perform(&stops, handler).await.0.message.as_deref(),
            Some("kill [job running, killed]: stopped at 3"),
            "the handler's own words are kept"
        );

        let deaf = new_run(0);
        let killed = Arc::clone(&deaf);
        let handler = move |_: JobContext| {
            killed.end("kill");
            pending::<Result<Outcome, JobError>>()
        };
        let (item, took) = perform(&deaf, handler).await;
        assert_eq!(item.message.as_deref(), Some("kill [job running, killed]"));
        assert_eq!(took, CANCEL_GRACE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_destructor_that_panics_ends_nothing_else() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("boom");
            }
        }
        let handler = |_: JobContext| async {
            let _bomb = Bomb;
            pending::<Result<(), JobError>>().await
        };
        assert_eq!(perform(&new_run(1), handler).await.0.code, 502);
    }

    // covers: 001-33
    #[test]
    fn a_long_result_is_cut_with_a_mark() {
        assert_eq!(cut("ß".repeat(MAX_MESSAGE_CHARS)).chars().count(), 50_000);
        let long = cut("ß".repeat(MAX_MESSAGE_CHARS + 1));
        assert_eq!(long.chars().count(), 50_003);
        assert!(long.ends_with("ß..."));
    }
}
