//! An executor of our own SDK behind the tap.

use std::sync::Arc;
use std::time::Duration;

use carillon_executor::{Executor, JobContext, JobError};

use super::items::{Items, of_run};
use super::loops::Ticks;
use super::{Arguments, tap, work};
use crate::load::items::{LABEL, MAP, MAP_REDUCE};
use crate::load::loops::HANDLER;
use crate::record::What;
use crate::record::event::EventLog;

/// Short, so that a stopped executor still has runs to report as interrupted.
const GRACE: Duration = Duration::from_secs(3);

pub async fn run(arguments: &Arguments, admins: Vec<String>, events: Arc<EventLog>) -> anyhow::Result<()> {
    let app = arguments.apps.first().cloned().unwrap_or_default();
    let mut builder = Executor::builder()
        .app(app)
        .token(&arguments.token)
        .advertise(&arguments.advertise)
        .data_dir(&arguments.data)
        .label(LABEL.0, LABEL.1)
        .grace(GRACE);
    for admin in admins {
        builder = builder.admin(admin);
    }
    let handled = events.clone();
    let ticks = Arc::new(Ticks::connect(arguments, &events.boot)?);
    let items = Items { events: events.clone(), faults: arguments.faults.clone() };
    let executor = builder
        .job("work", move |ctx: JobContext| work_on(ctx, handled.clone()))
        .job(HANDLER, move |ctx: JobContext| {
            let ticks = ticks.clone();
            async move { ticks.tick(ctx).await }
        })
        .map(MAP, items.clone())
        .map_reduce(MAP_REDUCE, items)
        .build()?;
    let inner = format!("http://{}", executor.handle().local_addr());
    tap::inbound(events, arguments, inner)?;
    executor.run(super::stop_signal()).await?;
    Ok(())
}

async fn work_on(ctx: JobContext, events: Arc<EventLog>) -> Result<String, JobError> {
    let event = |what, code| of_run(&ctx, what, code);
    events.write(event(What::Start, 0));
    let work = work::of(ctx.run_id(), ctx.params());
    tokio::select! {
        () = tokio::time::sleep(work.takes) => {}
        () = ctx.cancelled() => {
            events.write(event(What::End, 500));
            return Err(JobError::new("stopped"));
        }
    }
    events.write(event(What::End, if work.succeeds { 200 } else { 500 }));
    if work.succeeds { Ok(format!("done {}", ctx.run_id())) } else { Err(JobError::new("the lot said so")) }
}
