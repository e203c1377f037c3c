//! What users of the SDK write: handlers, their results and errors.

use std::any::Any;
use std::fmt;
use std::future::Future;

use futures_util::future::BoxFuture;

use crate::context::JobContext;

/// The text that a successful run reports, or none. Texts longer than 50,000 characters are cut.
///
/// Made from `()`, text, an optional text or a JSON value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome(pub(crate) Option<String>);

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self(None)
    }
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Self(Some(text))
    }
}

impl From<&str> for Outcome {
    fn from(text: &str) -> Self {
        Self(Some(text.to_owned()))
    }
}

impl From<Option<String>> for Outcome {
    fn from(text: Option<String>) -> Self {
        Self(text)
    }
}

impl From<serde_json::Value> for Outcome {
    fn from(value: serde_json::Value) -> Self {
        Self(Some(value.to_string()))
    }
}

/// A value that a declared function returns as the JSON of its result: `Result<Json<Report>, JobError>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// Why a run failed. Every error type converts into it with `?`; the sources of an error are part of its text.
///
/// Like `anyhow::Error`, it does not implement `std::error::Error`: the conversion from all error types would then be
/// ambiguous.
#[derive(Debug)]
pub struct JobError {
    message: String,
}

impl JobError {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// The text that the run reports.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl<E: std::error::Error> From<E> for JobError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self { message }
    }
}

/// The code that a job runs. Async closures `|ctx: JobContext| async move { … }` are handlers; implement this trait for a
/// type that has state of its own.
///
/// A handler is called once for each run, concurrently when several jobs use it. A panic fails its run and nothing else.
/// When a run is killed or its time is up, [`JobContext::cancelled`] completes, and 5 s later the future is dropped at the
/// `await` where it waits: blocking work belongs into `tokio::task::spawn_blocking`, and should check
/// [`JobContext::is_cancelled`].
pub trait JobHandler: Send + Sync + 'static {
    /// Executes one run.
    fn run(&self, ctx: JobContext) -> impl Future<Output = Result<Outcome, JobError>> + Send;
}

impl<F, Fut, T> JobHandler for F
where
    F: Fn(JobContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, JobError>> + Send,
    T: Into<Outcome>,
{
    async fn run(&self, ctx: JobContext) -> Result<Outcome, JobError> {
        self(ctx).await.map(Into::into)
    }
}

/// [`JobHandler`] as a trait object.
pub(crate) trait BoxedHandler: Send + Sync {
    fn call(&self, ctx: JobContext) -> BoxFuture<'_, Result<Outcome, JobError>>;

    /// Why the handler does not take runs with this [`PHASE`](carillon_protocol::headers::PHASE), if it does not.
    fn refuses_phase(&self, _phase: &str) -> Option<&'static str> {
        Some("takes no items: register it with map() or map_reduce()")
    }
}

impl<H: JobHandler> BoxedHandler for H {
    fn call(&self, ctx: JobContext) -> BoxFuture<'_, Result<Outcome, JobError>> {
        Box::pin(self.run(ctx))
    }
}

/// The error text of a handler that has panicked.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("handler panicked: {}", text.unwrap_or("no text"))
}
