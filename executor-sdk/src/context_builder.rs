//! Contexts for unit tests of handlers.

use std::sync::Arc;
use std::time::SystemTime;

use carillon_protocol::{DeliveredItem, RunRequest};

use crate::context::JobContext;
use crate::job_log::RunLog;
use crate::map::ItemContext;
use crate::run::{Run, RunMeta, wall_clock};

/// Builds the context of a run for unit tests of handlers, without an executor and an admin.
///
/// Defaults: run 1 of job 1, no parameters, no broadcast, first attempt, no fire key, scheduled for the Unix epoch.
///
/// Lines that the handler logs go to standard output. To test a cancellation, cancel the token of the context:
///
/// ```
/// use carillon_executor::{JobContext, JobError};
///
/// async fn wait(ctx: JobContext) -> Result<(), JobError> {
///     ctx.cancelled().await;
///     Err(JobError::new(format!("attempt {} of {}: stopped", ctx.attempt(), ctx.handler())))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let ctx = JobContext::builder().handler("wait").attempt(2).build();
/// ctx.cancellation().cancel();
/// let error = wait(ctx).await.unwrap_err();
/// assert_eq!(error.message(), "attempt 2 of wait: stopped");
/// # }
/// ```
pub struct JobContextBuilder {
    request: RunRequest,
    meta: RunMeta,
}

impl JobContext {
    /// Builds the context of a run for unit tests of handlers.
    pub fn builder() -> JobContextBuilder {
        JobContextBuilder {
            request: RunRequest { job_id: 1, log_id: 1, broadcast_total: 1, ..RunRequest::default() },
            meta: RunMeta { attempt: 1, ..RunMeta::default() },
        }
    }
}

impl JobContextBuilder {
    /// See [`JobContext::params`].
    #[must_use]
    pub fn params(mut self, params: impl Into<String>) -> Self {
        self.request.params = params.into();
        self
    }

    /// See [`JobContext::broadcast_index`] and [`JobContext::broadcast_total`]: the index is from 0 and less than the
    /// total.
    #[must_use]
    pub fn broadcast(mut self, index: i32, total: i32) -> Self {
        (self.request.broadcast_index, self.request.broadcast_total) = (index, total);
        self
    }

    /// See [`JobContext::run_id`].
    #[must_use]
    pub fn run_id(mut self, id: i64) -> Self {
        self.request.log_id = id;
        self
    }

    /// See [`JobContext::job_id`].
    #[must_use]
    pub fn job_id(mut self, id: i32) -> Self {
        self.request.job_id = id;
        self
    }

    /// See [`JobContext::handler`].
    #[must_use]
    pub fn handler(mut self, name: impl Into<String>) -> Self {
        self.request.handler = name.into();
        self
    }

    /// See [`JobContext::fire_key`].
    #[must_use]
    pub fn fire_key(mut self, key: impl Into<String>) -> Self {
        self.meta.fire_key = Some(key.into());
        self
    }

    /// See [`JobContext::traceparent`].
    #[must_use]
    pub fn traceparent(mut self, traceparent: impl Into<String>) -> Self {
        self.meta.traceparent = Some(traceparent.into());
        self
    }

    /// See [`JobContext::attempt`].
    #[must_use]
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.meta.attempt = attempt;
        self
    }

    /// See [`JobContext::scheduled_at`].
    #[must_use]
    pub fn scheduled_at(mut self, at: SystemTime) -> Self {
        self.meta.scheduled_at = Some(wall_clock::to_ms(at));
        self
    }

    /// The context.
    pub fn build(self) -> JobContext {
        let log = RunLog::to_stdout(&self.request);
        JobContext::new(Arc::new(Run::new(self.request, self.meta)), log)
    }

    /// The context of one item, from 0, that run 1 has handed in.
    pub fn build_item(self, item: i32, params: impl Into<String>) -> ItemContext {
        ItemContext::new(self.build(), 1, DeliveredItem { item, params: params.into() })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use crate::context::JobContext;

    #[test]
    fn a_context_has_the_given_values_or_defaults() {
        let default = JobContext::builder().build();
        assert_eq!((default.run_id(), default.job_id(), default.attempt()), (1, 1, 1));
        assert_eq!((default.broadcast_index(), default.broadcast_total()), (0, 1));
        assert_eq!((default.params(), default.fire_key(), default.scheduled_at()), ("", None, UNIX_EPOCH));

        let item = JobContext::builder().params("a delivery").run_id(9).build_item(17, "[1, 2]");
        assert_eq!((item.item(), item.key().as_str(), item.run_id()), (17, "map:1:17", 9));
        assert_eq!((item.params(), item.parse::<Vec<i32>>().unwrap()), ("[1, 2]", vec![1, 2]));
        assert!(item.parse::<i32>().unwrap_err().message().starts_with("the item cannot be read: "));

        for at in [UNIX_EPOCH + Duration::from_millis(1_790_000_000_123), UNIX_EPOCH - Duration::from_millis(1)] {
            let context = JobContext::builder().run_id(7).job_id(8).fire_key("8:0:9:0").scheduled_at(at).build();
            assert_eq!((context.run_id(), context.job_id()), (7, 8));
            assert_eq!((context.fire_key(), context.scheduled_at()), (Some("8:0:9:0"), at));
        }
        assert_eq!(default.traceparent(), None);
        let traced =
            JobContext::builder().traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").build();
        assert!(traced.traceparent().is_some_and(|text| text.ends_with("-01")));
    }
}
