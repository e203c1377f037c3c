//! What users of the SDK write: jobs that divide their work into items.

use std::future::Future;

use futures_util::future::BoxFuture;

use super::context::{ItemContext, MapContext, ReduceContext};
use crate::handler::{JobError, Outcome};

/// A job whose run divides its work into items, which the admin delivers to the executors of the app in further runs of the job.
///
/// Two async functions or closures are such a job: `.map("resize-images", (list_images, resize))`. Implement this trait for a type that
/// has state of its own, or for other numbers of items.
///
/// ```no_run
/// use carillon_executor::{Executor, ItemContext, JobError, MapContext, MapJob, Outcome};
///
/// struct ResizeImages {
///     folder: String,
/// }
///
/// impl MapJob for ResizeImages {
///     const AT_ONCE: usize = 4;
///
///     async fn map(&self, ctx: MapContext) -> Result<Outcome, JobError> {
///         let numbers = 0..10_000;
///         ctx.map(numbers.map(|number| format!("{}/{number}.png", self.folder))).await?;
///         Ok(Outcome::from("10000 images"))
///     }
///
///     async fn item(&self, ctx: ItemContext) -> Result<Outcome, JobError> {
///         Ok(Outcome::from(format!("resized {}", ctx.params())))
///     }
/// }
///
/// let builder = Executor::builder().map("resize-images", ResizeImages { folder: "/images".to_owned() });
/// ```
pub trait MapJob: Send + Sync + 'static {
    /// Items of one delivery at most, 1 to 1,000. None: the admin chooses. A delivery is one run, on one executor.
    const CHUNK: Option<i32> = None;

    /// Items of a delivery that are executed at once, at least 1. They share a task: blocking work belongs into
    /// `tokio::task::spawn_blocking`.
    const AT_ONCE: usize = 1;

    /// Called once for each run of the job: hands in the items with [`MapContext::map`]. The items are delivered when it has ended with
    /// success; after an error none is. Without items the run ends like that of another job.
    fn map(&self, ctx: MapContext) -> impl Future<Output = Result<Outcome, JobError>> + Send;

    /// Called for each item that is delivered to this executor. An error or a panic fails the item and no other one.
    fn item(&self, ctx: ItemContext) -> impl Future<Output = Result<Outcome, JobError>> + Send;
}

/// A [`MapJob`] with a last run, which reads the results of the items.
///
/// Three async functions or closures are such a job: `.map_reduce("count-words", (list_files, count, sum))`.
pub trait MapReduceJob: MapJob {
    /// Called once when each item has succeeded or finally failed.
    fn reduce(&self, ctx: ReduceContext) -> impl Future<Output = Result<Outcome, JobError>> + Send;
}

impl<M, Mapped, MapOutcome, I, Executed, ItemResult> MapJob for (M, I)
where
    M: Fn(MapContext) -> Mapped + Send + Sync + 'static,
    Mapped: Future<Output = Result<MapOutcome, JobError>> + Send,
    MapOutcome: Into<Outcome>,
    I: Fn(ItemContext) -> Executed + Send + Sync + 'static,
    Executed: Future<Output = Result<ItemResult, JobError>> + Send,
    ItemResult: Into<Outcome>,
{
    async fn map(&self, ctx: MapContext) -> Result<Outcome, JobError> {
        self.0(ctx).await.map(Into::into)
    }

    async fn item(&self, ctx: ItemContext) -> Result<Outcome, JobError> {
        self.1(ctx).await.map(Into::into)
    }
}

impl<M, Mapped, MapOutcome, I, Executed, ItemResult, R> MapJob for (M, I, R)
where
    M: Fn(MapContext) -> Mapped + Send + Sync + 'static,
    Mapped: Future<Output = Result<MapOutcome, JobError>> + Send,
    MapOutcome: Into<Outcome>,
    I: Fn(ItemContext) -> Executed + Send + Sync + 'static,
    Executed: Future<Output = Result<ItemResult, JobError>> + Send,
    ItemResult: Into<Outcome>,
    R: Send + Sync + 'static,
{
    async fn map(&self, ctx: MapContext) -> Result<Outcome, JobError> {
        self.0(ctx).await.map(Into::into)
    }

    async fn item(&self, ctx: ItemContext) -> Result<Outcome, JobError> {
        self.1(ctx).await.map(Into::into)
    }
}

impl<M, I, R, Reduced, ReduceOutcome> MapReduceJob for (M, I, R)
where
    (M, I, R): MapJob,
    R: Fn(ReduceContext) -> Reduced + Send + Sync + 'static,
    Reduced: Future<Output = Result<ReduceOutcome, JobError>> + Send,
    ReduceOutcome: Into<Outcome>,
{
    async fn reduce(&self, ctx: ReduceContext) -> Result<Outcome, JobError> {
        self.2(ctx).await.map(Into::into)
    }
}

/// [`MapJob`] as a trait object.
pub(super) trait BoxedMapJob: Send + Sync {
    fn chunk(&self) -> Option<i32>;
    fn at_once(&self) -> usize;
    fn call_map(&self, ctx: MapContext) -> BoxFuture<'_, Result<Outcome, JobError>>;
    fn call_item(&self, ctx: ItemContext) -> BoxFuture<'_, Result<Outcome, JobError>>;
}

impl<J: MapJob> BoxedMapJob for J {
    fn chunk(&self) -> Option<i32> {
        J::CHUNK
    }

    fn at_once(&self) -> usize {
        J::AT_ONCE
    }

    fn call_map(&self, ctx: MapContext) -> BoxFuture<'_, Result<Outcome, JobError>> {
        Box::pin(self.map(ctx))
    }

    fn call_item(&self, ctx: ItemContext) -> BoxFuture<'_, Result<Outcome, JobError>> {
        Box::pin(self.item(ctx))
    }
}

/// The reduce function of a [`MapReduceJob`] as a trait object.
pub(super) trait BoxedReduce: Send + Sync {
    fn call_reduce(&self, ctx: ReduceContext) -> BoxFuture<'_, Result<Outcome, JobError>>;
}

impl<J: MapReduceJob> BoxedReduce for J {
    fn call_reduce(&self, ctx: ReduceContext) -> BoxFuture<'_, Result<Outcome, JobError>> {
        Box::pin(self.reduce(ctx))
    }
}
