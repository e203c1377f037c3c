//! Every page fits its window, whatever is written on it.

use carillon_scheduler::{JobDraft, ScheduleDraft};
use serde_json::json;

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;

const WIDTHS: [u32; 5] = [1440, 1280, 1024, 768, 360];

fn schedule(json: serde_json::Value) -> ScheduleDraft {
    serde_json::from_value(json).unwrap()
}

/// Jobs whose texts are as long as they may be, and runs of them.
async fn crowded() -> Live {
    let live = Live::start().await;
    let app = "the-app-of-all-the-orders-of-every-branch-on-every-continent";
    live.app(app, "Orders").await;
    live.app("orders", "Orders").await;
    let all_days = r#"{"name": "bank", "title": "all the holidays of every branch on every continent", "weekdays": ["SAT", "SUN"], "days": ["2026-12-25"]}"#;
    live.calendar(all_days).await;
    let daily = json!({"kind": "daily", "every_seconds": 60, "from": "18:00:00", "to": "08:00:00", "timezone": "America/Argentina/ComodRivadavia"});
    let seconds: Vec<String> = (0..60).map(|second| second.to_string()).collect();
    let often = ScheduleDraft::cron(format!("{} * * * * ?", seconds.join(",")), "America/Argentina/ComodRivadavia");
    let name = "Settle-all-the-orders-of-every-branch-on-every-continent-at-once";
    for (app, name, handler, schedule) in [
        (app, name, "h".repeat(200), ScheduleDraft::fixed_rate(1)),
        ("orders", name, "fails".into(), ScheduleDraft::fixed_rate(1)),
        ("orders", "Count", "lines".into(), schedule(daily)),
        ("orders", name, "echo".into(), often),
        ("orders", "By hand", "echo".into(), ScheduleDraft::none()),
    ] {
        let mut draft = JobDraft::new(app, name, handler);
        (draft.schedule, draft.params) = (schedule, "p".repeat(300));
        live.job(draft).await;
    }
    live
}

const PAGES: [&str; 29] = [
    "/",
    "/jobs",
    "/jobs?text=nothing",
    "/jobs?kind=weekly",
    "/jobs/1",
    "/jobs/3",
    "/jobs/4",
    "/jobs/1/edit",
    "/jobs/1/run",
    "/jobs/1/delete",
    "/jobs/new",
    "/runs",
    "/runs?job=abc&from=zzz",
    "/forecast",
    "/calendars",
    "/audit",
    "/apps",
    "/apps/new",
    "/calendars/new",
    "/calendars/bank/edit",
    "/calendars/bank/delete",
    "/jobs/1/backfill",
    "/jobs/1/explain?at=2026-01-01T00:00:00Z",
    "/jobs/1/retention",
    "/misfires",
    "/gaps",
    "/nodes",
    "/retention",
    "/retention/edit",
];

// covers: A6
#[test]
fn every_page_fits_every_window() {
    run(async {
        let live = crowded().await;
        let _executor = live.executor("orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/runs?state=failed&job=2").await;
        let failed = browser.find("tr[data-run-id] a[href^='/runs/']").await;
        let failed = failed.attr("href").await.unwrap().unwrap();
        let mut wide = vec![];
        for path in PAGES.into_iter().chain([failed.as_str()]) {
            browser.go(path).await;
            browser.find("h1").await;
            for width in WIDTHS {
                browser.resize(width).await;
                if let Some(what) = browser.wider_than_window().await {
                    wide.push(format!("{path}: {what}"));
                }
            }
        }
        assert!(wide.is_empty(), "{}", wide.join("\n"));
        browser.client.clone().close().await.unwrap();
    });
}
