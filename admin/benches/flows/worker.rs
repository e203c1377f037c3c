//! A process of its own with the SDK: hands in items, and executes them.

use std::time::Duration;

use carillon_executor::{Executor, ItemContext, JobError, MapContext, ReduceContext};

pub const ADMINS: &str = "FLOWS_ADMINS";
pub const TOKEN: &str = "FLOWS_TOKEN";
pub const DATA: &str = "FLOWS_DATA";
pub const ITEMS: &str = "FLOWS_ITEMS";
pub const WORK: &str = "FLOWS_WORK_MS";

fn given(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// Until it is killed.
pub async fn run() {
    let mut builder = Executor::builder();
    for admin in given(ADMINS).split(',') {
        builder = builder.admin(admin);
    }
    let executor = builder
        .app(crate::cluster::APP)
        .token(given(TOKEN))
        .listen("127.0.0.1:0")
        .data_dir(given(DATA))
        .map_reduce("map", (hand_in, execute, count))
        .build()
        .unwrap();
    println!("ready");
    executor.run(std::future::pending::<()>()).await.unwrap();
}

async fn hand_in(ctx: MapContext) -> Result<String, JobError> {
    let items: usize = given(ITEMS).parse()?;
    ctx.map((0..items).map(|number| format!("item {number}"))).await?;
    Ok(format!("{items} items"))
}

async fn execute(ctx: ItemContext) -> Result<String, JobError> {
    let work: u64 = given(WORK).parse()?;
    if work > 0 {
        tokio::time::sleep(Duration::from_millis(work)).await;
    }
    Ok(ctx.item().to_string())
}

async fn count(ctx: ReduceContext) -> Result<String, JobError> {
    let (mut read, mut outcomes) = (0, ctx.outcomes());
    while outcomes.next().await?.is_some() {
        read += 1;
    }
    Ok(format!("{read} of {} items, {} failed", ctx.items(), ctx.failed()))
}
