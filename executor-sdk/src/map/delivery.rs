//! Executes the items of one delivery.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use carillon_protocol::{DeliveredItem, Delivery, ItemResult, SUCCESS};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::client::ItemClient;
use super::context::ItemContext;
use super::job::BoxedMapJob;
use super::report::{Report, result_of};
use crate::context::JobContext;
use crate::handler::{JobError, Outcome, panic_text};

/// How long items may take to end by themselves when the admin refuses their results.
const REFUSED_GRACE: Duration = Duration::from_secs(5);

/// Executes the items of a delivery and reports each result; its own result comes after theirs.
///
/// # Errors
/// Some items have failed, the admin refuses the results, or the run is cancelled.
pub(super) async fn deliver(job: &dyn BoxedMapJob, client: &ItemClient, ctx: JobContext) -> Result<Outcome, JobError> {
    let problem = |error| JobError::new(format!("the delivery cannot be read: {error}"));
    let Delivery { map, items, .. } = serde_json::from_str(ctx.params()).map_err(problem)?;
    let (results, ended) = mpsc::unbounded_channel();
    let stop = ctx.cancellation().child_token();
    let item_ctx = ctx.with_cancellation(stop.clone());
    let mut work = pin!(Items { job, ctx: item_ctx, map, tally: Tally::new(items.len()) }.execute(items, results));
    let mut report = pin!(Report::new(client, &ctx).run(ended));
    tokio::select! {
        biased;
        tally = &mut work => {
            report.await?;
            tally.outcome()
        }
        reported = &mut report => {
            stop.cancel();
            let _ = timeout(REFUSED_GRACE, work).await;
            reported?;
            Err(JobError::new("the results of items were not reported"))
        }
    }
}

struct Items<'a> {
    job: &'a dyn BoxedMapJob,
    ctx: JobContext,
    map: i64,
    tally: Tally,
}

impl Items<'_> {
    /// Executes the items until all have ended; after a cancellation no further one starts.
    async fn execute(mut self, items: Vec<DeliveredItem>, results: mpsc::UnboundedSender<ItemResult>) -> Tally {
        let (mut items, mut running) = (items.into_iter(), FuturesUnordered::new());
        loop {
            while running.len() < self.job.at_once() && !self.ctx.is_cancelled() {
                let Some(item) = items.next() else { break };
                running.push(execute_item(self.job, ItemContext::new(self.ctx.clone(), self.map, item)));
            }
            let Some(result) = running.next().await else {
                return self.tally;
            };
            self.tally.add(&result);
            let _ = results.send(result);
            // The report shares this task: items that never wait must not hold it up.
            yield_now().await;
        }
    }
}

async fn execute_item(job: &dyn BoxedMapJob, ctx: ItemContext) -> ItemResult {
    let item = ctx.item();
    let call = AssertUnwindSafe(async { job.call_item(ctx).await });
    let ended = call.catch_unwind().await;
    result_of(item, ended.unwrap_or_else(|panic| Err(JobError::new(panic_text(&*panic)))))
}

/// Counts the results of a delivery.
struct Tally {
    items: usize,
    ended: usize,
    failed: usize,
    /// The failed item with the smallest number, and why it failed.
    first_failure: Option<(i32, String)>,
}

impl Tally {
    fn new(items: usize) -> Self {
        Self { items, ended: 0, failed: 0, first_failure: None }
    }

    fn add(&mut self, result: &ItemResult) {
        self.ended += 1;
        if result.code == SUCCESS {
            return;
        }
        self.failed += 1;
        if self.first_failure.as_ref().is_none_or(|(item, _)| result.item < *item) {
            self.first_failure = Some((result.item, result.msg.clone().unwrap_or_default()));
        }
    }

    /// The result of the delivery.
    fn outcome(self) -> Result<Outcome, JobError> {
        let Self { items, ended, failed, first_failure } = self;
        let first_failure = first_failure.map(|(item, why)| format!("; item {item}: {why}")).unwrap_or_default();
        if ended < items {
            return Err(JobError::new(format!(
                "stopped after {ended} of {items} items, {failed} failed{first_failure}"
            )));
        }
        match failed {
            0 => Ok(Outcome::from(format!("{items} items"))),
            _ => Err(JobError::new(format!("{failed} of {items} items failed{first_failure}"))),
        }
    }
}
