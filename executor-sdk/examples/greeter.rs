use carillon_executor::{Executor, JobContext, JobError, log};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().init();
    let executor = Executor::builder()
        .admin(std::env::var("CARILLON_ADMIN")?)
        .token(std::env::var("CARILLON_ACCESS_TOKEN")?)
        .app("first-hour")
        .job("greet", |ctx: JobContext| async move {
            log!(ctx, "hello, {}", ctx.params());
            Ok("said hello")
        })
        .job("backup", |ctx: JobContext| async move {
            log!(ctx, "copying to {}", ctx.params());
            match ctx.params() {
                "/backup" => Err(JobError::new("no space left on /backup")),
                _ => Ok("copied"),
            }
        })
        .build()?;
    executor.run(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await?;
    Ok(())
}
