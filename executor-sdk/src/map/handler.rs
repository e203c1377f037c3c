//! A map job as the handler of its runs: the first one, those that deliver items, and the one that reads the results.

use std::sync::Arc;

use carillon_protocol::headers::{PHASE_ITEMS, PHASE_REDUCE};
use futures_util::future::BoxFuture;

use super::client::ItemClient;
use super::context::{MapContext, ReduceContext};
use super::delivery::deliver;
use super::job::{BoxedMapJob, BoxedReduce, MapJob, MapReduceJob};
use super::pages::Pages;
use crate::context::JobContext;
use crate::handler::{BoxedHandler, JobError, Outcome};

/// A map job that is not connected to an admin yet.
#[derive(Clone)]
pub(crate) struct RegisteredMapJob {
    job: Arc<dyn BoxedMapJob>,
    reduce: Option<Arc<dyn BoxedReduce>>,
}

struct MapHandler {
    job: RegisteredMapJob,
    client: ItemClient,
}

impl RegisteredMapJob {
    pub(crate) fn new(job: impl MapJob) -> Self {
        Self::shared(Arc::new(job))
    }

    pub(crate) fn with_reduce<J: MapReduceJob>(job: J) -> Self {
        let job = Arc::new(job);
        let reduce: Arc<dyn BoxedReduce> = Arc::<J>::clone(&job);
        Self { reduce: Some(reduce), ..Self::shared(job) }
    }

    fn shared<J: MapJob>(job: Arc<J>) -> Self {
        const {
            assert!(J::AT_ONCE > 0, "AT_ONCE must be at least 1");
            assert!(matches!(J::CHUNK, None | Some(1..=1000)), "CHUNK must be within 1 and 1000");
        }
        Self { job, reduce: None }
    }

    /// The handler that sends items with this client.
    pub(crate) fn connect(&self, client: ItemClient) -> Arc<dyn BoxedHandler> {
        Arc::new(MapHandler { job: self.clone(), client })
    }
}

impl MapHandler {
    async fn map(&self, ctx: JobContext) -> Result<Outcome, JobError> {
        let RegisteredMapJob { job, reduce } = &self.job;
        let pages = Pages::new(self.client.clone(), ctx.run_id(), job.chunk(), reduce.is_some());
        let ctx = MapContext::new(ctx, pages);
        let outcome = job.call_map(ctx.clone()).await?;
        ctx.send_rest().await?;
        Ok(outcome)
    }

    async fn reduce(&self, ctx: JobContext) -> Result<Outcome, JobError> {
        let problem = |error| JobError::new(format!("the parameters of the reduce run cannot be read: {error}"));
        let reduction = serde_json::from_str(ctx.params()).map_err(problem)?;
        let reduce = self.job.reduce.as_ref().ok_or_else(|| JobError::new("the job has no reduce"))?;
        reduce.call_reduce(ReduceContext::new(ctx, reduction, self.client.clone())).await
    }
}

impl BoxedHandler for MapHandler {
    fn call(&self, ctx: JobContext) -> BoxFuture<'_, Result<Outcome, JobError>> {
        match ctx.phase() {
            None => Box::pin(self.map(ctx)),
            Some(PHASE_REDUCE) => Box::pin(self.reduce(ctx)),
            Some(_) => Box::pin(deliver(&*self.job.job, &self.client, ctx)),
        }
    }

    fn refuses_phase(&self, phase: &str) -> Option<&'static str> {
        match phase {
            PHASE_ITEMS => None,
            PHASE_REDUCE if self.job.reduce.is_some() => None,
            PHASE_REDUCE => Some("has no reduce: register it with map_reduce()"),
            _ => Some("knows no runs with this Carillon-Phase: its executor is older than the admin"),
        }
    }
}
