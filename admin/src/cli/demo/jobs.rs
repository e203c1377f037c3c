//! The jobs of the demo, one for each thing worth seeing.

use anyhow::anyhow;
use carillon_admin::Admin;
use carillon_admin::store::{Actor, Definition};
use carillon_scheduler::{Clock, JobDraft, RouteStrategy, ScheduleDraft};

pub const APP: &str = "demo";

/// Stores app and jobs, unless this database has had a demo before.
pub async fn create(admin: &Admin, clock: &dyn Clock) -> anyhow::Result<()> {
    let (store, now, actor) = (&admin.store, clock.now(), Actor::engine());
    if store.app_by_name(APP).await?.is_some() {
        return Ok(());
    }
    let app = store.create_app(APP, "Demonstration", now, &actor).await?;
    let check = |draft| Definition::check(&app, &draft, now).map_err(|errors| anyhow!("{}: {errors:?}", draft.name));
    let definitions = drafts().into_iter().map(check).collect::<anyhow::Result<_>>()?;
    let jobs = store.create_jobs(definitions, now, &actor, None).await?;
    for job in jobs {
        admin.engine.job_changed(job.shard);
    }
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
