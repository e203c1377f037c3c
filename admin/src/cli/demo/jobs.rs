//! The jobs of the demo, one for each thing worth seeing.

use std::sync::Arc;

use carillon_engine::Engine;
use carillon_engine::manage::Error;
use carillon_scheduler::{JobDraft, RouteStrategy, ScheduleDraft};
use carillon_store::Actor;

pub const APP: &str = "demo";

/// Creates app and jobs, unless this database has had a demo before.
pub async fn create(engine: &Arc<Engine>) -> anyhow::Result<()> {
    let by = Actor::engine();
    match engine.apps().create(APP, Some("Demonstration"), &by).await {
        Ok(_) => {}
        Err(Error::Taken(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    engine.jobs().create_all(drafts().into(), None, &by).await?;
    Ok(())
}

pub fn count() -> usize {
    drafts().len()
}

fn drafts() -> [JobDraft; 5] {
    let job = |name: &str, handler: &str| JobDraft::new(APP, name, handler);
    let every = |seconds| ScheduleDraft::fixed_rate(seconds);
    [
        JobDraft { params: "world".to_owned(), schedule: every(2), ..job("Say hello", "hello") },
        JobDraft {
            schedule: ScheduleDraft::cron("0/10 * * * * ?", "Europe/Berlin"),
            ..job("Write the report", "report")
        },
        JobDraft {
            schedule: every(15),
            route: RouteStrategy::Broadcast,
            ..job("Recount the customers, a part on each executor", "recount")
        },
        JobDraft { schedule: every(20), retries: 2, ..job("Fetch from a shaky service, with retries", "fetch") },
        JobDraft {
            params: "120".to_owned(),
            timeout_seconds: 300,
            ..job("Walk the archive: run once, follow its log, kill it", "walk")
        },
    ]
}
