//! A long job that logs its progress, and ends in order when it is killed or its time is up.

use std::error::Error;
use std::time::Duration;

use carillon_executor::{JobContext, JobError, log};

#[path = "settings/mod.rs"]
mod settings;

/// Takes `params` steps (by default 60) of one second.
async fn walk(ctx: JobContext) -> Result<String, JobError> {
    let steps: u32 = match ctx.params().trim() {
        "" => 60,
        text => text.parse()?,
    };
    for step in 1..=steps {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(1)) => log!(ctx, "step {step} of {steps}"),
            () = ctx.cancelled() => {
                log!(ctx, "cancelled after step {}", step - 1);
                return Err(JobError::new("stopped"));
            }
        }
    }
    Ok(format!("{steps} steps"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let executor =
        settings::from_environment()?.app("long-running").grace(Duration::from_secs(10)).job("walk", walk).build()?;
    println!("long-running: waiting for runs at {}", executor.handle().address());
    executor.run(settings::stop_signal()).await?;
    Ok(())
}
