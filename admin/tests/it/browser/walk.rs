//! The morning of an operator: 500 jobs in 20 apps, of which 12 have failed overnight, one executor is gone and one run was late.

use std::cell::Cell;

use carillon_engine::manage::RunRequest;
use carillon_scheduler::{Cause, JobDraft};
use carillon_store::{Actor, RunFilter, VisibleApps};

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;

const APPS: usize = 20;
const JOBS_OF_APP: usize = 25;

/// The number of the app, and how many of its jobs fail.
const FAILING: [(usize, usize); 2] = [(1, 8), (2, 4)];

async fn night(live: &Live) {
    let mut executors = vec![];
    for app in 1..=APPS {
        let name = format!("app-{app:02}");
        live.app(&name, &name).await;
        let failing = FAILING.iter().find(|(it, _)| *it == app).map_or(0, |(_, count)| *count);
        for job in 0..JOBS_OF_APP {
            let handler = if job < failing { "fails" } else { "echo" };
            let id = live.job(JobDraft::new(&name, format!("Job {job} of {app}"), handler)).await.id;
            if job == 0 {
                executors.push(live.executor(&name).await);
            }
            if job < failing || (app, job) == (4, 0) {
                start(live, id).await;
            }
        }
    }
    let failing: usize = FAILING.iter().map(|(_, count)| count).sum();
    until(async || live.store.runs().failing_jobs(&VisibleApps::All).await.unwrap().len() == failing).await;
    let filter = RunFilter { app: Some("app-04".into()), limit: 1, ..RunFilter::default() };
    let late = live.store.runs().list(&filter).await.unwrap().items.remove(0).id;
    until(async || !live.store.runs().get(late).await.unwrap().unwrap().state.is_open()).await;
    live.write(&format!("UPDATE run SET sent_at = due_at + 3600000 WHERE id = {late}")).await;
    executors[2].cancel();
    let online = async || {
        let executors = live.store.apps().visible_executors(&VisibleApps::All).await.unwrap();
        executors.iter().filter(|it| it.is_live(live.clock.now())).count()
    };
    until(async || online().await == APPS - 1).await;
}

async fn start(live: &Live, job_id: i64) {
    let ask = RunRequest {
        parts: None,
        job_id,
        cause: Cause::Api,
        params: None,
        priority: None,
        address: None,
        idempotency_key: None,
    };
    live.engine.jobs().run(ask, &Actor::engine()).await.unwrap();
}

async fn until(condition: impl AsyncFn() -> bool) {
    for _ in 0..600 {
        if condition().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the night does not end");
}

struct Walk {
    browser: Browser,
    clicks: Cell<u32>,
}

impl Walk {
    async fn click(&self, css: &str) {
        self.clicks.set(self.clicks.get() + 1);
        self.browser.press(css).await;
    }
}

#[test]
fn what_happened_overnight_is_found_and_run_again_with_less_than_ten_clicks() {
    run(async {
        let live = Live::start().await;
        night(&live).await;
        let walk = Walk { browser: Browser::signed_in(&live, Kind::default()).await, clicks: Cell::new(0) };
        let browser = &walk.browser;
        let text = async |css: &str| browser.text(css).await;

        let failing = text("[data-testid=failing]").await;
        assert!(failing.contains("and 7 more of app-01") && failing.contains("and 3 more of app-02"), "{failing}");
        assert!(failing.contains("the payment provider answered 503"), "the cause is there without a click: {failing}");
        walk.click("[data-testid=failing] li:first-child a.sub").await;
        assert!(text("[data-testid=message]").await.contains("answered 503"));
        browser.find("#log .log-line").await;

        walk.click("nav a[href='/']").await;
        assert!(text("[data-testid=late]").await.contains("1 of the newest runs was sent late"));
        walk.click("[data-testid=late] a").await;
        browser.until_at("/runs?sort=lateness").await;
        let first = text("tbody tr:first-child").await;
        assert!(first.contains("app-04") && first.contains("1 h late"), "{first}");

        walk.click("nav a[href='/']").await;
        assert!(text("main").await.contains("No executor of app-03 is online"));
        walk.click("a[href='/apps#app-app-03']").await;
        assert!(text("[data-app=app-03]").await.contains("0 online"));

        walk.click("nav a[href='/']").await;
        walk.click("[data-testid=failing] a[href='/runs/rerun']").await;
        walk.click("[data-testid=rerun-form] button").await;
        assert!(text("[data-testid=selected]").await.contains("12 now"), "{}", text("main").await);
        walk.click("[data-testid=bulk-form] button").await;
        let done = text("[data-testid=flash]").await;
        assert!(done.contains("12 runs"), "{done}");
        assert!(walk.clicks.get() < 10, "{} clicks", walk.clicks.get());
        walk.browser.close().await;
    });
}
