//! The call of a handler: its result, its time limit, its cancellation.

use std::any::Any;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use carillon_protocol::{CallbackItem, FAILURE, SUCCESS, TIMEOUT};
use futures_util::FutureExt;

use crate::context::JobContext;
use crate::handler::{BoxedHandler, JobError, Outcome, panic_text};
use crate::run::Run;

/// How long a cancelled handler may take to end by itself before it is dropped.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// Calls the handler and waits until it ends, is cancelled, or its time is up.
pub(crate) async fn execute(run: &Run, handler: &dyn BoxedHandler, ctx: JobContext) -> CallbackItem {
    if let Some(reason) = run.cancel_reason() {
        return run.not_executed(reason);
    }
    let mut work = Box::pin(AssertUnwindSafe(async { handler.call(ctx).await }).catch_unwind());
    let timed_out = tokio::select! {
        biased;
        ended = &mut work => return result_of(run, ended),
        () = run.stop.cancelled() => false,
        () = sleep(run.time_limit()) => true,
    };
    run.stop.cancel();
    let ended = tokio::time::timeout(CANCEL_GRACE, &mut work).await;
    // A destructor of the handler's future may panic as well; that must not end the task of the lane.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(work)));
    match ended {
        _ if timed_out => run.result(TIMEOUT, Some("job execute timeout".to_owned())),
        Ok(ended) => result_of(run, ended),
        Err(_) => killed(run, None),
    }
}

/// A run that succeeds although it was cancelled has succeeded: reported as failed, its work could be repeated.
fn result_of(run: &Run, ended: Result<Result<Outcome, JobError>, Box<dyn Any + Send>>) -> CallbackItem {
    match ended {
        Ok(Ok(outcome)) => run.result(SUCCESS, outcome.0),
        Ok(Err(error)) if run.stop.is_cancelled() => killed(run, Some(error.message())),
        Err(_) if run.stop.is_cancelled() => killed(run, None),
        Ok(Err(error)) => run.result(FAILURE, Some(error.message().to_owned())),
        Err(panic) => run.result(FAILURE, Some(panic_text(&*panic))),
    }
}

/// The result of a run that was cancelled: the reason, then the handler's own error text.
fn killed(run: &Run, error: Option<&str>) -> CallbackItem {
    let mut text = format!("{} [job running, killed]", run.cancel_reason().unwrap_or("cancelled"));
    if let Some(error) = error.map(str::trim).filter(|error| !error.is_empty()) {
        text = format!("{text}: {error}");
    }
    run.result(FAILURE, Some(text))
}

async fn sleep(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Arc;
    use std::time::Duration;

    use carillon_protocol::{CallbackItem, RunRequest};
    use tokio::time::Instant;

    use super::{CANCEL_GRACE, execute};
    use crate::context::JobContext;
    use crate::handler::{JobError, JobHandler, Outcome};
    use crate::job_log::JobLogs;
    use crate::run::{Run, RunMeta};

    /// Executes a run under a paused clock; also returns how long it took.
    async fn execute_timed(run: &Arc<Run>, handler: impl JobHandler) -> (CallbackItem, Duration) {
        let folder = tempfile::tempdir().unwrap();
        let log = JobLogs::new(folder.path(), 0).unwrap().open(&run.request);
        let ctx = JobContext::new(Arc::clone(run), log);
        let started = Instant::now();
        let item = execute(run, &handler, ctx).await;
        (item, started.elapsed())
    }

    fn new_run(timeout_seconds: i32) -> Arc<Run> {
        let request = RunRequest { timeout_seconds, log_id: 1, ..RunRequest::default() };
        Arc::new(Run::new(request, RunMeta::default()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_handler_that_ignores_its_time_limit_is_dropped() {
        let ignores = |_: JobContext| pending::<Result<(), JobError>>();
        let (item, took) = execute_timed(&new_run(60), ignores).await;
        assert_eq!(item.code, 502);
        assert_eq!(took, Duration::from_secs(60) + CANCEL_GRACE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_handler_that_heeds_its_time_limit_ends_at_once() {
        let heeds = |ctx: JobContext| async move {
            ctx.cancelled().await;
            Ok("too late")
        };
        let (item, took) = execute_timed(&new_run(60), heeds).await;
        assert_eq!((item.code, item.message.as_deref()), (502, Some("job execute timeout")));
        assert_eq!(took, Duration::from_secs(60));
        let no_limit = |_: JobContext| async {
            tokio::time::sleep(Duration::from_secs(1_000_000)).await;
            Ok(())
        };
        assert_eq!(execute_timed(&new_run(0), no_limit).await.0.code, 200);
        assert_eq!(execute_timed(&new_run(-1), no_limit).await.0.code, 200);
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_in_spite_of_a_kill_stays_a_success() {
        let run = new_run(0);
        let killed = Arc::clone(&run);
        let finishes = move |_: JobContext| {
            let killed = Arc::clone(&killed);
            async move {
                killed.cancel("kill");
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok("done nevertheless")
            }
        };
        assert_eq!(execute_timed(&run, finishes).await.0.code, 200);

        let stops = new_run(0);
        let killed = Arc::clone(&stops);
        let handler = move |ctx: JobContext| {
            killed.cancel("kill");
            async move {
                ctx.cancelled().await;
                Err::<Outcome, _>(JobError::new("stopped at 3"))
            }
        };
        assert_eq!(
            execute_timed(&stops, handler).await.0.message.as_deref(),
            Some("kill [job running, killed]: stopped at 3"),
            "the handler's error text is kept"
        );

        let ignores = new_run(0);
        let killed = Arc::clone(&ignores);
        let handler = move |_: JobContext| {
            killed.cancel("kill");
            pending::<Result<Outcome, JobError>>()
        };
        let (item, took) = execute_timed(&ignores, handler).await;
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
        assert_eq!(execute_timed(&new_run(1), handler).await.0.code, 502);
    }
}
