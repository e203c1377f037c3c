//! An executor on xxljob-sdk-rs.

use std::env::var;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use xxljob_sdk_rs::{AsyncJobHandler, JobContext, JobHandler, XxlClientBuilder};

enum Handler {
    Echo,
    Fail,
    Sleep,
    Part,
}

#[async_trait]
impl AsyncJobHandler for Handler {
    async fn process(&self, mut context: JobContext) -> anyhow::Result<JobContext> {
        let params = context.job_param.clone().unwrap_or_default();
        match self {
            Self::Echo => context.handle_msg = Some(format!("got {params}")),
            Self::Fail => anyhow::bail!("it is broken"),
            Self::Sleep => tokio::time::sleep(Duration::from_secs(params.parse()?)).await,
            Self::Part => context.handle_msg = Some(format!("{} of {}", context.shard_index, context.shard_total)),
        }
        Ok(context)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = XxlClientBuilder::new(format!("{}/xxl-job-admin", var("CARILLON_ADMIN")?))
        .set_access_token(var("CARILLON_ACCESS_TOKEN")?)
        .set_app_name(var("EXECUTOR_APP")?)
        .set_ip("127.0.0.1".to_owned())
        .set_port(var("EXECUTOR_LISTEN_PORT")?.parse()?)
        .set_log_path("logs".to_owned())
        .build()?;
    for (name, handler) in
        [("echo", Handler::Echo), ("fail", Handler::Fail), ("sleep", Handler::Sleep), ("part", Handler::Part)]
    {
        client.register(Arc::new(name.to_owned()), JobHandler::Async(Arc::new(handler)))?;
    }
    tokio::signal::ctrl_c().await?;
    Ok(())
}
