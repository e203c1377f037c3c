//! A process of its own with the SDK: hands in items, and executes them; calls loops, and writes down how late.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use carillon_executor::{Executor, ItemContext, JobContext, JobError, MapContext, ReduceContext};

pub const ADMINS: &str = "FLOWS_ADMINS";
pub const TOKEN: &str = "FLOWS_TOKEN";
pub const DATA: &str = "FLOWS_DATA";
pub const ITEMS: &str = "FLOWS_ITEMS";
pub const WORK: &str = "FLOWS_WORK_MS";
/// A file: a line for each call of a loop, with the parameters of its job, its instant in ms, and its lateness in µs.
pub const LATENESS: &str = "FLOWS_LATENESS";
/// How often the lines are written.
pub const WRITTEN_EVERY: Duration = Duration::from_millis(200);

/// Lines that are not in the file yet.
static CALLS: Mutex<String> = Mutex::new(String::new());

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
        .job("tick", tick)
        .build()
        .unwrap();
    if let Some(file) = std::env::var_os(LATENESS) {
        tokio::spawn(write_calls(file.into()));
    }
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

#[expect(clippy::disallowed_methods, reason = "an observer's clock must not be the product's")]
async fn tick(ctx: JobContext) -> Result<(), JobError> {
    let (now, instant) = (SystemTime::now(), ctx.scheduled_at());
    let late_us = match now.duration_since(instant) {
        Ok(late) => late.as_micros() as i64,
        Err(early) => -(early.duration().as_micros() as i64),
    };
    let at = instant.duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
    writeln!(CALLS.lock().unwrap(), "{} {at} {late_us}", ctx.params())?;
    Ok(())
}

async fn write_calls(path: PathBuf) {
    let mut file = File::create(path).unwrap();
    loop {
        tokio::time::sleep(WRITTEN_EVERY).await;
        let lines = std::mem::take(&mut *CALLS.lock().unwrap());
        file.write_all(lines.as_bytes()).unwrap();
    }
}
