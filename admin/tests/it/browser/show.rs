//! A filled console for a person to look at: `cargo test -p carillon-admin --test it -- --ignored --nocapture a_filled`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use carillon_scheduler::{BlockStrategy, JobDraft, MisfirePolicy, Overlap, RouteStrategy, ScheduleDraft};
use carillon_store::App;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::pages::{Filled, SIGNED_OUT};
use crate::services::{runtime, setting};

fn job(app: &str, name: &str, handler: &str, schedule: ScheduleDraft, params: &str) -> JobDraft {
    let mut draft = JobDraft::new(app, name, handler);
    (draft.schedule, draft.params) = (schedule, params.to_owned());
    draft
}

#[test]
#[ignore = "serves until it is stopped, for a person"]
fn a_filled_console() {
    runtime().block_on(async {
        let live = Live::start().await;
        println!("{} {} {}", live.url, live.name, live.password);
        let seconds = std::env::var("CARILLON_SHOW_SECONDS").unwrap_or_default();
        let _filled = match std::env::var("CARILLON_SHOW_EMPTY") {
            Err(_) => Some(fill(&live).await),
            Ok(_) => None,
        };
        tokio::time::sleep(Duration::from_secs(seconds.parse().unwrap_or(600))).await;
    });
}

/// `make screenshots`: a picture of each page in both languages, in the light, in the dark and on a phone.
#[test]
#[ignore = "draws pictures for a person"]
fn screenshots() {
    runtime().block_on(async {
        let live = Live::start().await;
        let (app, executor) = fill(&live).await;
        let filled = Filled::around(live, &app, executor).await;
        let folder = Path::new(&setting("CARILLON_SCREENSHOTS")).to_owned();
        let mut index = String::from("<!doctype html><meta charset=\"utf-8\"><title>Screenshots</title>\n");
        for chinese in [false, true] {
            for (name, kind) in [
                ("light", Kind { chinese, ..Kind::default() }),
                ("dark", Kind { chinese, dark: true, ..Kind::default() }),
                ("phone", Kind { chinese, phone: true, ..Kind::default() }),
            ] {
                let set = format!("{}-{name}", if chinese { "zh" } else { "en" });
                fs::create_dir_all(folder.join(&set)).unwrap();
                for page in draw(&filled, kind, &folder.join(&set)).await {
                    index.push_str(&format!("<figure><figcaption>{set} {page}</figcaption><img loading=\"lazy\" width=\"640\" src=\"{set}/{page}.png\"></figure>\n"));
                }
            }
        }
        fs::write(folder.join("index.html"), index).unwrap();
        println!("{}", folder.join("index.html").display());
    });
}

/// Draws all pages; their names.
async fn draw(filled: &Filled, kind: Kind, folder: &Path) -> Vec<String> {
    let browser = Browser::open(&filled.live, kind).await;
    let mut names = vec![];
    let signed_out = SIGNED_OUT.map(str::to_owned);
    for path in &signed_out {
        names.push(browser.draw(path, kind, folder).await);
    }
    browser.go("/login").await;
    browser.sign_in(filled.live.name, &filled.live.password).await;
    browser.until_at("/").await;
    for path in filled.paths(&browser).await {
        names.push(browser.draw(&path, kind, folder).await);
    }
    browser.close().await;
    names
}

/// Apps, executors and jobs of all kinds, some of which have run. Returns the first app and an executor of it.
async fn fill(live: &Live) -> (App, CancellationToken) {
    let app = live.app("billing", "Billing").await;
    live.app("warehouse", "Warehouse robots").await;
    live.app("mailing", "mailing").await;
    let first = live.executor("billing").await;
    let _second = live.executor("billing").await;
    let gone = live.executor("warehouse").await;
    let _unknown = live.executor("reports-eu").await;
    let rate = |seconds| ScheduleDraft::fixed_rate(seconds);
    let cron = |expression: &str, zone: &str| ScheduleDraft::cron(expression, zone);
    live.job(job("billing", "Close the day", "closeDay", cron("0 30 23 * * ?", "Europe/Berlin"), "")).await;
    live.job(job("billing", "Settle open orders", "lines", cron("0/20 * * * * ?", "Asia/Shanghai"), "40 150")).await;
    live.job(job("billing", "Charge subscriptions", "fails", rate(15), "https://pay.example")).await;
    live.job(job("billing", "Heartbeat of the ledger", "echo", rate(2), "tick")).await;
    let mut all = job("billing", "Refresh price caches", "echo", rate(30), "all regions");
    (all.route, all.retries, all.timeout_seconds) = (RouteStrategy::Broadcast, 2, 20);
    live.job(all).await;
    let mut robots = job("warehouse", "Recharge idle robots", "echo", rate(45), "{\"below\": 20}");
    robots.block = BlockStrategy::DiscardLater;
    live.job(robots).await;
    let mut paused = job(
        "mailing",
        "Send the weekly digest with a rather long name to all",
        "digest",
        cron("0 0 8 ? * MON", "America/New_York"),
        "",
    );
    paused.enabled = false;
    live.job(paused).await;
    live.job(job("billing", "<b>Import</b> \"invoices\" & receipts", "lines", ScheduleDraft::none(), "1500")).await;
    with_rules(live).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    gone.cancel();
    tokio::time::sleep(Duration::from_secs(15)).await;
    (app, first)
}

/// A calendar, and jobs of the other kinds with all that they can say.
async fn with_rules(live: &Live) {
    live.calendar(r#"{"name": "bank", "title": "Bank holidays", "weekdays": ["SAT", "SUN"], "days": ["2026-12-25", "2027-01-01"]}"#)
        .await;
    let schedule = |json: serde_json::Value| serde_json::from_value(json).unwrap();
    let nightly = json!({
        "kind": "cron", "expression": "0 30 2 * * ?", "timezone": "America/New_York", "calendars": ["bank"],
        "on_excluded": "next_working_day", "spread_seconds": 600, "max_fires": 300, "end_at": "2029-12-31T23:59:59Z"
    });
    let mut nightly = job("billing", "Reconcile accounts", "echo", schedule(nightly), "");
    (nightly.overlap, nightly.misfire) = (Overlap::Wait, MisfirePolicy::FireAll);
    live.job(nightly).await;
    let daily = json!({"kind": "daily", "every_seconds": 600, "from": "08:00", "to": "18:00", "weekdays": ["MON", "TUE", "WED"], "timezone": "Asia/Tokyo"});
    live.job(job("warehouse", "Count the shelves", "echo", schedule(daily), "")).await;
    let hourly = json!({"kind": "unix_cron", "expression": "0 * * * *"});
    live.job(job("billing", "Publish exchange rates", "echo", schedule(hourly), "")).await;
    live.job(job("billing", "Poll the payment gateway", "echo", ScheduleDraft::fixed_delay(40), "")).await;
}
