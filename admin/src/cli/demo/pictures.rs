//! A job of the demo that divides its work into items: each executor gets some of them, and a last run counts what was done.

use std::time::Duration;

use carillon_executor::{ItemContext, JobError, MapContext, ReduceContext, log};
use carillon_scheduler::{JobDraft, LimitDraft, ScheduleDraft};
use tokio::time::sleep;

use super::app::{APP, tags};

/// Pictures of one run.
const PICTURES: u32 = 200;
/// The limit of its runs.
const LIMIT: &str = "picture-store";

/// Where the pictures lie takes two deliveries at a time: the others wait in line.
pub fn limit() -> LimitDraft {
    LimitDraft {
        app: Some(APP.to_owned()),
        description: "Where the pictures lie takes two deliveries at a time.".to_owned(),
        ..LimitDraft::new(LIMIT, 2)
    }
}

pub fn job() -> JobDraft {
    JobDraft {
        limits: vec![LIMIT.to_owned()],
        schedule: ScheduleDraft::fixed_rate(60),
        description:
            "Hands in 200 pictures as items, which both executors shrink; a last run counts them. One fails at first."
                .to_owned(),
        tags: tags(&["items"]),
        retries: 2,
        ..JobDraft::new(APP, "Shrink pictures, item by item", "pictures")
    }
}

pub async fn list(ctx: MapContext) -> Result<String, JobError> {
    ctx.map((1..=PICTURES).map(|number| format!("picture-{number}.png"))).await?;
    Ok(format!("{PICTURES} pictures"))
}

pub async fn shrink(ctx: ItemContext) -> Result<String, JobError> {
    sleep(Duration::from_millis(40)).await;
    if ctx.item() == 16 && ctx.attempt() == 1 {
        return Err(JobError::new("it was being written"));
    }
    Ok(format!("{} KiB", 20 + ctx.item() % 30))
}

pub async fn count(ctx: ReduceContext) -> Result<String, JobError> {
    let (mut sum, mut outcomes) = (0, ctx.outcomes());
    while let Some(outcome) = outcomes.next().await? {
        let size = outcome.result().unwrap_or_default().trim_end_matches(" KiB").parse::<u32>();
        sum += size.unwrap_or_default();
    }
    log!(ctx, "{} pictures, {} of them failed", ctx.items(), ctx.failed());
    Ok(format!("{} pictures of {sum} KiB in all", ctx.items() - ctx.failed()))
}
