//! The smallest executor: one handler that says hello.
//!
//! `CARILLON_ACCESS_TOKEN=… cargo run -p carillon-executor --example hello`, with the admin's token; the address of the
//! admin is `CARILLON_ADMIN`, by default `http://127.0.0.1:8080`.

use std::error::Error;

use carillon_executor::{JobContext, log};

#[path = "settings/mod.rs"]
mod settings;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let executor = settings::from_environment()?
        .app("hello")
        .job("hello", |ctx: JobContext| async move {
            log!(ctx, "hello, {}", ctx.params());
            Ok("said hello")
        })
        .build()?;
    println!("hello: waiting for runs at {}", executor.handle().address());
    executor.run(settings::stop_signal()).await?;
    Ok(())
}
