//! The log of a run: colours, finding, links to lines, wrapping, the file.

use carillon_engine::manage::RunRequest;
use carillon_scheduler::{Cause, JobDraft};
use carillon_store::Actor;

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;

const TEXT: &str = "begins\n\u{1b}[32mgreen\u{1b}[0m plain\nERROR: disk full\n\u{1b}[2J<b>fine</b>\nit failed again";

/// A run that has written the text, and a browser on its page.
async fn ended(live: &Live) -> (Browser, String) {
    live.app("orders", "Orders").await;
    let _executor = live.executor("orders").await;
    let job_id = live.job(JobDraft::new("orders", "Settle", "echo")).await.id;
    let ask = RunRequest { job_id, cause: Cause::Api, params: Some(TEXT.into()), address: None, idempotency_key: None };
    let id = live.engine.jobs().run(ask, &Actor::engine()).await.unwrap();
    let browser = Browser::signed_in(live, Kind::default()).await;
    let path = format!("/runs/{id}");
    browser.go(&path).await;
    browser.find("#run[data-state=succeeded]").await;
    browser.find(".log-line[data-error] ~ .log-line[data-error]").await;
    (browser, path)
}

// covers: S28
#[test]
fn colours_are_classes_and_the_rest_is_text() {
    run(async {
        let live = Live::start().await;
        let (browser, _) = ended(&live).await;
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
        let (browser, _) = ended(&live).await;
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
fn an_address_marks_lines_and_wrapping_is_kept() {
    run(async {
        let live = Live::start().await;
        let (browser, path) = ended(&live).await;
        let marked = async || {
            browser.script("return [...document.querySelectorAll('[data-marked]')].map(it => it.id).join()").await
        };
        browser.press("#L2 > a").await;
        assert_eq!(marked().await, "L2");
        let shift = "document.querySelector('#L4 > a').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }))";
        browser.script(shift).await;
        assert_eq!(marked().await, "L2,L3,L4");
        assert_eq!(browser.script("return location.hash").await, "#L2-L4");
        browser.find("#log-link:not([hidden])").await;
        assert_eq!(browser.script("return document.getElementById('log').dataset.wrap").await, "on");
        browser.press("#log-wrap").await;
        browser.go("/runs").await;
        browser.go(&format!("{path}#L3-L4")).await;
        assert_eq!(marked().await, "L3,L4");
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
