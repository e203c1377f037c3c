//! The log of a run: colours, finding, links to lines, wrapping, the file.

use carillon_engine::manage::RunRequest;
use carillon_scheduler::{Cause, JobDraft};
use carillon_store::Actor;

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;

const TEXT: &str = "begins\n\u{1b}[32mgreen\u{1b}[0m plain\nERROR: disk full\n\u{1b}[2J<b>fine</b>\nit failed again";

/// A run that has written the text, and a browser on its page.
async fn ended(live: &Live, kind: Kind) -> (Browser, String) {
    let (browser, path) = run_of(live, kind, "echo", TEXT).await;
    browser.find("#run[data-state=succeeded]").await;
    browser.find(".log-line[data-error] ~ .log-line[data-error]").await;
    (browser, path)
}

/// A run, and a browser on its page.
async fn run_of(live: &Live, kind: Kind, handler: &str, params: &str) -> (Browser, String) {
    live.app("orders", "Orders").await;
    let _executor = live.executor("orders").await;
    let job_id = live.job(JobDraft::new("orders", "Settle", handler)).await.id;
    let ask = RunRequest {
        parts: None,
        job_id,
        cause: Cause::Api,
        params: Some(params.into()),
        priority: None,
        address: None,
        idempotency_key: None,
    };
    let id = live.engine.jobs().run(ask, &Actor::engine()).await.unwrap();
    let browser = Browser::signed_in(live, kind).await;
    let path = format!("/runs/{id}");
    browser.go(&path).await;
    (browser, path)
}

/// Waits until a number that a script tells has grown to this one: as long as it grows, however slowly.
async fn grown(browser: &Browser, script: &str, number: i64) {
    for part in 1..=20 {
        let enough = async || browser.script(script).await.as_i64().unwrap() >= number * part / 20;
        browser.until(script, enough).await;
    }
}

// covers: S28
#[test]
fn colours_are_classes_and_the_rest_is_text() {
    run(async {
        let live = Live::start().await;
        let (browser, _) = ended(&live, Kind::default()).await;
        assert_eq!(browser.text(".log .ansi-green").await, "green");
        let text = browser.text("[data-testid=log]").await;
        assert!(text.contains("green plain") && text.contains(r"\x1b[2J<b>fine</b>"), "{text}");
        assert!(!browser.has(".log b").await);
        browser.close().await;
    });
}

#[test]
fn text_and_errors_are_found() {
    run(async {
        let live = Live::start().await;
        let (browser, _) = ended(&live, Kind::default()).await;
        let current = async || browser.text(".log-line[data-current] > span").await;
        browser.fill("#log-find", "PLAIN").await;
        browser.until("a match", async || browser.text("#log-found").await == "1 of 1").await;
        assert!(current().await.contains("green plain"));
        browser.fill("#log-find", "nowhere").await;
        browser.until("no match", async || browser.text("#log-found").await == "no match").await;
        browser.press("#log-error").await;
        assert!(current().await.contains("ERROR: disk full"));
        assert_eq!(browser.text("#log-found").await, "error 1 of 2");
        browser.press("#log-error").await;
        assert!(current().await.contains("it failed again"));
        browser.press("#log-error").await;
        assert_eq!(browser.text("#log-found").await, "error 1 of 2", "around the end");
        browser.close().await;
    });
}

#[test]
fn what_is_found_is_said_in_the_language_of_the_page() {
    run(async {
        let live = Live::start().await;
        let (browser, _) = ended(&live, Kind { chinese: true, ..Kind::default() }).await;
        let found = async || browser.text("#log-found").await;
        browser.press("#log-error").await;
        assert_eq!(found().await, "第 1 处错误，共 2 处");
        browser.fill("#log-find", "plain").await;
        browser.until("a match", async || found().await == "第 1 处，共 1 处").await;
        browser.fill("#log-find", "nowhere").await;
        browser.until("no match", async || found().await == "没有匹配").await;
        browser.close().await;
    });
}

// covers: A8, B11
#[test]
fn the_page_holds_a_part_of_a_long_log_and_leads_to_all_of_it() {
    run(async {
        let live = Live::start().await;
        let (browser, path) = run_of(&live, Kind::default(), "lines", "60000").await;
        browser.find("#run[data-state=succeeded]").await;
        browser.go(&format!("{path}?line=last")).await;
        browser.find("#L60000").await;
        let count = "return document.querySelectorAll('.log-line').length";
        assert_eq!(browser.script(count).await, 1000, "the last page without those before it");
        browser.fill("#log-find", "order 17 of 60000").await;
        let missed = "no match in lines 59001–60000";
        browser.until(missed, async || browser.text("#log-found").await == missed).await;

        browser.press("#log-first:not([hidden])").await;
        browser.find("#L1").await;
        grown(&browser, count, 50_000).await;
        browser.find("#log-more:not([hidden])").await;
        assert_eq!(browser.script("return document.getElementById('log').scrollTop").await, 0, "it does not run away");
        assert!(!browser.has("#L60000").await);
        let loaded = async || browser.text("#log-loaded").await;
        browser
            .until("how far it is loaded", async || {
                loaded().await.starts_with("5") && loaded().await.contains(" lines")
            })
            .await;
        browser.press("#log-last").await;
        browser.find("#L60000").await;
        assert_eq!(browser.script("return location.search").await, "?line=last");
        browser.go(&format!("{path}?line=2001#L7")).await;
        browser.find("#L7[data-marked]").await;

        let file = format!("return fetch('{path}/log.txt').then(it => it.text())");
        let file = browser.script(&file).await;
        let lines: Vec<&str> = file.as_str().unwrap().lines().collect();
        assert_eq!((lines.len(), lines[59_999].contains("order 60000 of 60000")), (60_000, true));
        browser.close().await;
    });
}

#[test]
fn an_address_marks_lines_and_wrapping_is_kept() {
    run(async {
        let live = Live::start().await;
        let (browser, path) = ended(&live, Kind::default()).await;
        // The marks follow the address, and the lines, a moment later.
        let marked = "return [...document.querySelectorAll('[data-marked]')].map(it => it.id).join()";
        let are_marked = async |lines: &str| {
            browser.until(lines, async || browser.script(marked).await == lines).await;
        };
        browser.press("#L2 > a").await;
        are_marked("L2").await;
        let shift = "document.querySelector('#L4 > a').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }))";
        browser.script(shift).await;
        are_marked("L2,L3,L4").await;
        assert_eq!(browser.script("return location.hash").await, "#L2-L4");
        browser.find("#log-link:not([hidden])").await;
        assert_eq!(browser.script("return document.getElementById('log').dataset.wrap").await, "on");
        browser.press("#log-wrap").await;
        browser.go("/runs").await;
        browser.go(&format!("{path}#L3-L4")).await;
        are_marked("L3,L4").await;
        assert_eq!(browser.script("return document.getElementById('log').dataset.wrap").await, "off");
        let file = format!(
            "return fetch('{path}/log.txt').then(async it => it.headers.get('content-disposition') + await it.text())"
        );
        let file = browser.script(&file).await;
        let file = file.as_str().unwrap();
        assert!(
            file.contains("attachment") && file.contains(r"\x1b[32mgreen") && file.contains("it failed again"),
            "{file}"
        );
        browser.close().await;
    });
}
