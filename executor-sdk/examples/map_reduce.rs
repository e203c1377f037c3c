//! A job that divides its work into items: counts the letters of texts, on all executors of the app, and sums them up.
//!
//! Start it twice or more (each with its own `CARILLON_DATA_DIR`). The parameter of the job is the number of texts, by default 1,000.
//! `retries` of the job are those of its items.

use std::env;
use std::error::Error;

use carillon_executor::{ItemContext, JobError, MapContext, MapJob, MapReduceJob, Outcome, ReduceContext, log};

#[path = "settings/mod.rs"]
mod settings;

struct CountLetters;

impl MapJob for CountLetters {
    /// Items of one delivery.
    const CHUNK: Option<i32> = Some(50);
    const AT_ONCE: usize = 4;

    async fn map(&self, ctx: MapContext) -> Result<Outcome, JobError> {
        let texts: u32 = match ctx.params().trim() {
            "" => 1_000,
            text => text.parse()?,
        };
        ctx.map((0..texts).map(|number| format!("text {number}"))).await?;
        Ok(Outcome::from(format!("{texts} texts")))
    }

    async fn item(&self, ctx: ItemContext) -> Result<Outcome, JobError> {
        log!(ctx, "item {}: {}, key {}", ctx.item(), ctx.params(), ctx.key());
        let letters = ctx.params().chars().filter(|c| c.is_alphabetic()).count();
        Ok(Outcome::from(letters.to_string()))
    }
}

impl MapReduceJob for CountLetters {
    async fn reduce(&self, ctx: ReduceContext) -> Result<Outcome, JobError> {
        let (mut letters, mut outcomes) = (0, ctx.outcomes());
        while let Some(outcome) = outcomes.next().await? {
            match outcome.parse::<u64>() {
                Ok(count) => letters += count,
                Err(error) => log!(ctx, "item {} does not count: {error}", outcome.item()),
            }
        }
        Ok(Outcome::from(format!("{letters} letters in {} texts, {} failed", ctx.items(), ctx.failed())))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let data = env::var("CARILLON_DATA_DIR").unwrap_or("carillon-executor-data/map-reduce".to_owned());
    let executor = settings::from_environment()?
        .app("map-reduce")
        .data_dir(data)
        .map_reduce("count-letters", CountLetters)
        .build()?;
    println!("map-reduce: waiting for runs at {}", executor.handle().address());
    executor.run(settings::stop_signal()).await?;
    Ok(())
}
