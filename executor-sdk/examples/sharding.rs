//! A broadcast job: each executor of the app takes its share of the work.
//!
//! Start it twice or more (each with its own `CARILLON_DATA_DIR`), and give the job the route `broadcast`.

use std::env;
use std::error::Error;

use carillon_executor::{Executor, JobContext, JobError, JobHandler, Outcome, log};

#[path = "settings/mod.rs"]
mod settings;

/// A handler with state of its own: the customers to count.
struct Recount {
    customers: Vec<u64>,
}

impl JobHandler for Recount {
    async fn run(&self, ctx: JobContext) -> Result<Outcome, JobError> {
        let (index, total) = (ctx.broadcast_index() as u64, ctx.broadcast_total() as u64);
        let share = self.customers.iter().filter(|id| *id % total == index);
        let mut count = 0;
        for customer in share {
            log!(ctx, "customer {customer} counted");
            count += 1;
        }
        Ok(Outcome::from(format!("index {index} of {total}: {count} customers")))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let data = env::var("CARILLON_DATA_DIR").unwrap_or("carillon-executor-data/sharding".to_owned());
    let customers = (1..=100).collect();
    let executor: Executor =
        settings::from_environment()?.app("sharding").data_dir(data).job("recount", Recount { customers }).build()?;
    println!("sharding: waiting for runs at {}", executor.handle().address());
    executor.run(settings::stop_signal()).await?;
    Ok(())
}
