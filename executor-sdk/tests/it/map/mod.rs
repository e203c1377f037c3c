//! Map jobs: the items of a run, their deliveries, and the run that reads the results.

mod deliveries;
mod pages;
mod reduce;
mod refusals;
mod stops;

use std::sync::Arc;

use carillon_executor::{
    ExecutorBuilder, ItemContext, JobError, MapContext, MapJob, MapReduceJob, Outcome, ReduceContext,
};
use carillon_protocol::{DeliveredItem, Delivery};
use carillon_testkit::StubAdmin;
use tempfile::TempDir;
use tokio::sync::Barrier;

use crate::worker::{Worker, new_token};

/// Hands in the numbers below its parameter; the items are as the test delivers them.
async fn map_numbers(ctx: MapContext) -> Result<String, JobError> {
    let count: u32 = ctx.params().parse()?;
    ctx.map((0..count).map(|number| number.to_string())).await?;
    Ok(format!("{count} numbers"))
}

/// Does what the item says.
async fn execute(ctx: ItemContext) -> Result<String, JobError> {
    match ctx.params() {
        "fail" => Err(JobError::new("no such image")),
        "panic" => panic!("nothing is there"),
        "key" => Ok(ctx.key()),
        "long" => Ok("ß".repeat(3_000)),
        "quotes" => Ok("\"".repeat(4_000)),
        "wait" => {
            ctx.cancelled().await;
            Err(JobError::new("stopped"))
        }
        params => Ok(params.to_owned()),
    }
}

/// Squares of numbers, three at once, and their sum.
struct Squares {
    /// Three items meet here.
    meeting: Arc<Barrier>,
}

impl MapJob for Squares {
    const CHUNK: Option<i32> = Some(10);
    const AT_ONCE: usize = 3;

    async fn map(&self, ctx: MapContext) -> Result<Outcome, JobError> {
        ctx.map_values([[1, 2], [3, 4]]).await?;
        Ok(Outcome::default())
    }

    async fn item(&self, ctx: ItemContext) -> Result<Outcome, JobError> {
        let numbers: Vec<i64> = ctx.parse()?;
        self.meeting.wait().await;
        Ok(Outcome::from(numbers.iter().map(|number| number * number).sum::<i64>().to_string()))
    }
}

impl MapReduceJob for Squares {
    async fn reduce(&self, ctx: ReduceContext) -> Result<Outcome, JobError> {
        let (mut sum, mut failures) = (0, vec![]);
        let mut outcomes = ctx.outcomes();
        while let Some(outcome) = outcomes.next().await? {
            match outcome.result() {
                Ok(_) => sum += outcome.parse::<i64>()?,
                Err(error) => failures.push(format!("{} of {}: {error}", outcome.item(), outcome.params())),
            }
        }
        Ok(Outcome::from(format!("{sum} from {} items, {} failed: {failures:?}", ctx.items(), ctx.failed())))
    }
}

/// Jobs `numbers`, without a reduce, and `squares`.
fn with_map_jobs(builder: ExecutorBuilder) -> ExecutorBuilder {
    let squares = Squares { meeting: Arc::new(Barrier::new(3)) };
    builder.map("numbers", (map_numbers, execute)).map_reduce("squares", squares)
}

async fn map_worker(admin: &StubAdmin, data: &TempDir) -> Worker {
    Worker::with(admin, data.path(), &new_token(), with_map_jobs).await
}

/// A delivery of run 7 with these items, whose numbers count from `first`.
fn delivery<'a>(first: i32, items: impl IntoIterator<Item = &'a str>) -> Delivery {
    let item = |(item, params): (i32, &str)| DeliveredItem { item, params: params.to_owned() };
    Delivery { map: 7, delivery: 1, items: (first..).zip(items).map(item).collect() }
}

async fn deliver(admin: &StubAdmin, worker: &Worker, handler: &str, delivery: &Delivery) -> i64 {
    admin.deliver(worker.handle.address(), &worker.token, handler, delivery).await
}

async fn start(admin: &StubAdmin, worker: &Worker, handler: &str, params: &str) -> i64 {
    admin.run(worker.handle.address(), &worker.token, handler, params).await
}

/// Code and text of a run's result.
async fn ended(admin: &StubAdmin, run_id: i64) -> (i32, String) {
    let result = admin.result(run_id).await;
    (result.code, result.message.unwrap_or_default())
}
