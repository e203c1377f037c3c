//! The jobs of the demo, one for each thing worth seeing.

use std::sync::Arc;

use carillon_alerts::Alerts;
use carillon_alerts::channel::ChannelKind;
use carillon_alerts::manage::ChannelDraft;
use carillon_engine::Engine;
use carillon_engine::manage::{DelayedRun, DueTime, Error, RunLaterRequest};
use carillon_scheduler::{Durability, JobDraft, KindDraft, RouteStrategy, ScheduleDraft};
use carillon_store::{Actor, DeclarationSetting};

use super::app::{APP, tags};
use super::page::{self, DemoPage};
use super::{orders, pictures};
use crate::Admin;

/// Creates app and jobs, unless this database has had a demo before.
pub async fn create(admin: &Admin, page: &DemoPage) -> anyhow::Result<()> {
    let (engine, alerts) = (&admin.engine, &*admin.alerts);
    let by = Actor::engine();
    match engine.apps().create(APP, Some("Demonstration"), &by).await {
        Ok(app) => drop(admin.declarations.set(app.id, DeclarationSetting::Apply, &by).await?),
        Err(Error::Taken(_)) => return follow_page(engine, page, &by).await,
        Err(error) => return Err(error.into()),
    }
    let made = engine.jobs().create_all(drafts().into(), None, &by).await?;
    if let Some(archive) = made.last() {
        engine.jobs().run_later(walk_later(archive.id), &by).await?;
    }
    engine.run_limits().create(pictures::limit(), &by).await?;
    engine.jobs().create(pictures::job(), None, &by).await?;
    engine.jobs().create_all(orders::parts().into(), None, &by).await?;
    engine.jobs().create(orders::workflow(), None, &by).await?;
    engine.jobs().create(page.job(), None, &by).await?;
    create_alerts(alerts, &by).await
}

/// The page has another port at each start. A job that was deleted, or sends elsewhere by now, stays so.
async fn follow_page(engine: &Arc<Engine>, page: &DemoPage, by: &Actor) -> anyhow::Result<()> {
    let Some(app) = engine.cx.store.apps().by_name(APP).await? else { return Ok(()) };
    let job = match engine.jobs().with_key(app.id, page::KEY).await {
        Err(Error::Missing(_)) => return Ok(()),
        job => job?,
    };
    let mut draft = job.draft;
    let on_loopback = format!("http://{}:", page::NETWORK);
    if let Some(request) = draft.http.as_mut().filter(|request| request.url.starts_with(&on_loopback)) {
        request.url = page.url();
        engine.jobs().update(job.id, &draft, Some(job.revision), by).await?;
    }
    Ok(())
}

/// A channel that needs no network, and a rule for the job that fails.
async fn create_alerts(alerts: &Alerts, by: &Actor) -> anyhow::Result<()> {
    let channel = ChannelDraft { all_apps: true, ..ChannelDraft::new("Mailbox", ChannelKind::File) };
    let channel = alerts.create_channel(channel, by).await?.id;
    let kinds = ["failed", "unknown", "lost", "paused", "stuck", "no_executor"];
    let rule = serde_json::json!({"name": "What goes wrong", "kinds": kinds, "channels": [channel], "group_by": "job"});
    alerts.create_rule(serde_json::from_value(rule)?, by).await?;
    Ok(())
}

/// A short walk through the archive in ten minutes: a run that is scheduled.
fn walk_later(job_id: i64) -> RunLaterRequest {
    let run = DelayedRun {
        due: DueTime::InSeconds(600),
        expires_after_seconds: Some(3_600),
        params: Some("20".to_owned()),
        parts: None,
        priority: None,
        address: None,
    };
    RunLaterRequest { job_id, runs: vec![run], idempotency_key: None, traceparent: None, is_list: false }
}

pub fn count() -> usize {
    // Those of the pictures, the workflow and the page stand alone.
    drafts().len() + orders::parts().len() + 3
}

fn drafts() -> [JobDraft; 7] {
    let job = |name: &str, handler: &str| JobDraft::new(APP, name, handler);
    let every = |seconds| ScheduleDraft::fixed_rate(seconds);
    [
        JobDraft {
            params: "world".to_owned(),
            schedule: every(2),
            description: "Greets whatever its parameters name, to show that runs arrive.".to_owned(),
            tags: tags(&["quick"]),
            ..job("Say hello", "hello")
        },
        JobDraft {
            schedule: ScheduleDraft::cron("0/10 * * * * ?", "Europe/Berlin"),
            description: "The figures of the day. If it fails, run it again: it writes the whole report anew."
                .to_owned(),
            owner: "finance@example.com".to_owned(),
            tags: tags(&["report", "tier-1"]),
            ..job("Write the report", "report")
        },
        JobDraft {
            schedule: every(15),
            route: RouteStrategy::Broadcast,
            ..job("Recount the customers, a part on each executor", "recount")
        },
        JobDraft { schedule: every(20), retries: 2, ..job("Fetch from a shaky service, with retries", "fetch") },
        JobDraft {
            schedule: every(60),
            description: "Shows alarms and alerts. After 30 failures in a row it is paused.".to_owned(),
            owner: "storage team".to_owned(),
            tags: tags(&["backup", "tier-1"]),
            pause_after_failures: 30,
            ..job("Copy to a full disk, which fails", "copy")
        },
        JobDraft {
            schedule: KindDraft::FixedPeriod { milliseconds: 250 }.into(),
            durability: Durability::BestEffort,
            description: "Best effort: one executor fires it four times a second by itself, and its fires are counted. It fails in one second of each minute."
                .to_owned(),
            tags: tags(&["quick"]),
            ..job("Feel the pulse, in a loop of one executor", "pulse")
        },
        JobDraft {
            params: "120".to_owned(),
            timeout_seconds: 300,
            ..job("Walk the archive: run once, follow its log, kill it", "walk")
        },
    ]
}
