//! A run and its log, as they happen.

use carillon_scheduler::JobDraft;

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;

async fn job(live: &Live, handler: &str, params: &str) -> i64 {
    live.app("orders", "Orders").await;
    let mut draft = JobDraft::new("orders", "Settle", handler);
    draft.params = params.into();
    live.job(draft).await.id
}

// covers: S28
#[test]
fn a_run_reaches_its_end_and_shows_hostile_text_as_text() {
    run(async {
        let live = Live::start().await;
        let id = job(&live, "echo", "").await;
        let _executor = live.executor("orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go(&format!("/jobs/{id}/run")).await;
        let hostile = "<script>alert(1)</script> 你好";
        browser.fill("#params", hostile).await;
        browser.press("[data-testid=run-form] button").await;
        // The run's own page, not the form's that is about to go.
        browser.find("#run").await;
        browser.script("window.same = true").await;
        browser.find("#run[data-state=succeeded]").await;
        assert_eq!(browser.script("return window.same").await, true, "without a reload");
        assert_eq!(browser.text("[data-testid=message]").await, hostile);
        browser.find(".log-line").await;
        assert!(browser.text("[data-testid=log]").await.contains(hostile));
        assert!(browser.client.get_alert_text().await.is_err());
        let steps = browser.text("[data-testid=timeline]").await;
        for step in ["Due", "Marked for sending", "Sent", "Succeeded"] {
            assert!(steps.contains(step), "{steps}");
        }
        browser.close().await;
    });
}

#[test]
fn the_log_follows_until_the_reader_scrolls_up() {
    run(async {
        let live = Live::start().await;
        let id = job(&live, "lines", "1000 3").await;
        let _executor = live.executor("orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go(&format!("/jobs/{id}/run")).await;
        browser.press("[data-testid=run-form] button").await;
        let lines =
            async || browser.script("return document.querySelectorAll('.log-line').length").await.as_i64().unwrap();
        browser.until("100 lines", async || lines().await > 100).await;
        let at_end = "const log = document.getElementById('log'); return log.scrollHeight - log.scrollTop - log.clientHeight < 30";
        let is_at_end = async || browser.script(at_end).await == true;
        browser.until("the last line comes into view", is_at_end).await;

        browser.script("document.getElementById('log').scrollTop = 0").await;
        let before = lines().await;
        browser.until("more lines", async || lines().await > before).await;
        assert_eq!(browser.script("return document.getElementById('log').scrollTop").await, 0, "the view stays");
        browser.press("#log-more:not([hidden])").await;
        browser.until("the last line comes into view", is_at_end).await;

        browser.find("#run[data-state=succeeded]").await;
        browser.until("all lines", async || lines().await >= 1000).await;
        let numbers = browser
            .script("return [...document.querySelectorAll('.log-line a')].map(it => Number(it.textContent))")
            .await;
        let numbers: Vec<i64> = numbers.as_array().unwrap().iter().map(|it| it.as_i64().unwrap()).collect();
        assert_eq!(numbers, (1..=1000).collect::<Vec<_>>(), "each line once, in order");
        browser.close().await;
    });
}

#[test]
fn a_killed_run_ends_without_a_reload() {
    run(async {
        let live = Live::start().await;
        let id = job(&live, "lines", "1000 50").await;
        let _executor = live.executor("orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go(&format!("/jobs/{id}/run")).await;
        browser.press("[data-testid=run-form] button").await;
        browser.find("#run[data-state=running]").await;
        browser.press("#run a[href$='/kill']").await;
        browser.press("[data-testid=question] button").await;
        browser.find("#run[data-state=killed]").await;
        assert!(!browser.has("#run a[href$='/kill']").await, "there is nothing left to kill");
        assert!(browser.text("[data-testid=timeline]").await.contains("Kill asked"));
        browser.close().await;
    });
}

#[test]
fn a_refresh_leaves_alone_what_is_in_use() {
    run(async {
        let live = Live::start().await;
        let id = job(&live, "echo", "").await;
        let _executor = live.executor("orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/runs").await;
        browser.press("[popovertarget=account]").await;
        browser.fill("input[name=job]", "77").await;
        browser.script("window.typing = document.activeElement").await;
        let ask = carillon_engine::manage::RunRequest {
            parts: None,
            job_id: id,
            cause: carillon_scheduler::Cause::Api,
            params: None,
            priority: None,
            address: None,
            idempotency_key: None,
        };
        live.engine.jobs().run(ask, &carillon_store::Actor::engine()).await.unwrap();
        browser.find("tr[data-state=succeeded]").await;
        let script = "return document.activeElement === window.typing && window.typing.value";
        assert_eq!(browser.script(script).await, "77", "focus and text are as they were");
        browser.close().await;
    });
}
