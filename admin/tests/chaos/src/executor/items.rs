//! Jobs with items: what they do, and the lines that they write into the executor's books.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use carillon_executor::{ItemContext, JobContext, JobError, MapContext, MapJob, MapReduceJob, Outcome, ReduceContext};

use super::work;
use crate::record::event::EventLog;
use crate::record::{Event, What};

/// The file that arms a kill: the item that removes it is on its way until the process is killed, or for a while.
pub const KILL: &str = "map_executor_killed";
const UNTIL_KILLED: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub struct Items {
    pub events: Arc<EventLog>,
    /// Where the suite arms the kill.
    pub faults: PathBuf,
}

impl MapJob for Items {
    const CHUNK: Option<i32> = Some(5);
    const AT_ONCE: usize = 2;

    async fn map(&self, ctx: MapContext) -> Result<Outcome, JobError> {
        self.events.write(of_run(&ctx, What::Start, 0));
        let items: i64 = ctx.params().parse()?;
        ctx.map((0..items).map(|item| format!("item {item}"))).await?;
        self.end(&ctx, work::of_items_run(ctx.run_id()), format!("{items} items"))
    }

    async fn item(&self, ctx: ItemContext) -> Result<Outcome, JobError> {
        let (run, item) = (ctx.run_id(), i64::from(ctx.item()));
        let event = |what, code| {
            let key = ctx.key();
            let root = key.split(':').nth(1).and_then(|root| root.parse().ok());
            Event { root: root.unwrap_or_default(), item, key, ..of_run(&ctx, what, code) }
        };
        self.events.write(event(What::ItemStart, 0));
        let work = work::of_item(run, item);
        let is_to_be_killed = std::fs::remove_file(self.faults.join(KILL)).is_ok();
        let takes = if is_to_be_killed { UNTIL_KILLED } else { work.takes };
        let is_cancelled = tokio::time::timeout(takes, ctx.cancelled()).await.is_ok();
        let succeeds = work.succeeds && !is_cancelled;
        self.events.write(event(What::ItemEnd, code(succeeds)));
        result(succeeds, format!("done {run} {item}"))
    }
}

impl MapReduceJob for Items {
    /// Writes down how many items it has read, and how many of them have failed.
    async fn reduce(&self, ctx: ReduceContext) -> Result<Outcome, JobError> {
        self.events.write(of_run(&ctx, What::Start, 0));
        let (mut read, mut failed, mut outcomes) = (0, 0, ctx.outcomes());
        while let Some(outcome) = outcomes.next().await? {
            read += 1;
            failed += i64::from(outcome.result().is_err());
        }
        self.events.write(Event { item: read, state: failed.to_string(), ..of_run(&ctx, What::Reduced, 0) });
        self.end(&ctx, work::of_items_run(ctx.run_id()), format!("{failed} of {read} have failed"))
    }
}

impl Items {
    fn end(&self, ctx: &JobContext, succeeds: bool, text: String) -> Result<Outcome, JobError> {
        self.events.write(of_run(ctx, What::End, code(succeeds)));
        result(succeeds, text)
    }
}

pub(super) fn of_run(ctx: &JobContext, what: What, code: i64) -> Event {
    Event {
        what,
        code,
        run: ctx.run_id(),
        job: i64::from(ctx.job_id()),
        key: ctx.fire_key().unwrap_or_default().to_owned(),
        attempt: i64::from(ctx.attempt()),
        ..Event::default()
    }
}

fn code(succeeds: bool) -> i64 {
    if succeeds { 200 } else { 500 }
}

fn result(succeeds: bool, text: String) -> Result<Outcome, JobError> {
    if succeeds { Ok(Outcome::from(text)) } else { Err(JobError::new("the lot said so")) }
}
