//! The main path with scripts switched off, and what a phone can do.

use carillon_scheduler::{JobDraft, ScheduleDraft};

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;

#[test]
fn everything_works_without_script() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let _executor = live.executor("orders").await;
        let plain = Kind { without_script: true, ..Kind::default() };
        let browser = Browser::signed_in(&live, plain).await;
        browser.go("/jobs/new").await;
        browser.fill("#name", "Settle").await;
        browser.fill("#handler", "lines").await;
        browser.fill("#params", "3").await;
        browser.fill("#expression", "0 0 3 * * ?").await;
        browser.press("noscript button[value=preview]").await;
        browser.find("[data-testid=fire]:nth-child(5)").await;
        browser.press("button[value=save]").await;
        browser.until_at("/jobs/1").await;
        browser.press("a[href='/jobs/1/run']").await;
        browser.press("[data-testid=run-form] button").await;
        browser.find("#run").await;
        browser
            .until("success", async || {
                browser.client.refresh().await.unwrap();
                browser.has("#run[data-state=succeeded]").await
            })
            .await;
        assert!(browser.text("[data-testid=log]").await.contains("order 3 of 3 is settled"));
        browser.go("/jobs").await;
        browser.press("button[aria-label='Pause Settle']").await;
        browser.find("tr[data-state=paused]").await;
        browser.press("[popovertarget=account]").await;
        browser.press("button[name=theme][value=dark]").await;
        browser.find("html[data-theme=dark]").await;
        browser.press("[popovertarget=account]").await;
        browser.press("form[action='/logout'] button").await;
        browser.until_at("/login").await;
        browser.close().await;
    });
}

async fn filled() -> Live {
    let live = Live::start().await;
    live.app("orders", "Orders").await;
    let long = "Settle-all-the-orders-of-every-branch-on-every-continent-at-once";
    let mut draft = JobDraft::new("orders", long, "h".repeat(200));
    draft.schedule = ScheduleDraft::fixed_rate(1);
    draft.params = "p".repeat(500);
    live.calendar(r#"{"name": "the-days-on-which-no-bank-of-this-world-is-open-for-anybody", "days": ["2099-12-25"]}"#)
        .await;
    draft.schedule.calendars = vec!["the-days-on-which-no-bank-of-this-world-is-open-for-anybody".into()];
    live.job(draft).await;
    live
}

#[test]
fn a_phone_finds_runs_and_pauses_a_job() {
    run(async {
        let live = filled().await;
        let phone = Kind { phone: true, ..Kind::default() };
        let browser = Browser::signed_in(&live, phone).await;
        browser.press("[popovertarget=menu]").await;
        browser.press("nav a[href='/jobs']").await;
        browser.until_at("/jobs").await;
        let small = "return [...document.querySelectorAll('main a.icon-button, main button, main .button')].map(it => it.getBoundingClientRect()).filter(it => it.width < 24 || it.height < 24).length";
        assert_eq!(browser.script(small).await, 0, "nothing is too small for a finger");
        browser.press("button[aria-label^='Pause']").await;
        browser.find("tr[data-state=paused]").await;
        browser.press("a[aria-label^='Run ']").await;
        browser.press("[data-testid=run-form] button").await;
        browser.find("#run").await;
        browser.close().await;
    });
}

// covers: A8
#[test]
fn a_long_log_can_be_read_to_its_end_without_script() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let _executor = live.executor("orders").await;
        let mut draft = JobDraft::new("orders", "Settle", "lines");
        // More than the executor answers at once.
        draft.params = "12000".into();
        live.job(draft).await;
        let plain = Kind { without_script: true, ..Kind::default() };
        let browser = Browser::signed_in(&live, plain).await;
        browser.go("/jobs/1/run").await;
        browser.press("[data-testid=run-form] button").await;
        browser.find("#run").await;
        browser
            .until("success", async || {
                browser.client.refresh().await.unwrap();
                browser.has("#run[data-state=succeeded]").await
            })
            .await;
        let place = async || browser.text(".log-pages span").await;
        // The last page comes first if the executor counts the lines within a second.
        let path = browser.client.current_url().await.unwrap().path().to_owned();
        browser.go(&format!("{path}?line=1")).await;
        assert!(place().await.starts_with("Lines 1–1000"));
        browser.press(".log-pages a[rel=next]").await;
        browser.find("#L1001").await;
        assert!(place().await.starts_with("Lines 1001–2000"));
        browser.press(".log-pages a:last-child").await;
        browser.find("#L12000").await;
        assert_eq!(place().await, "Lines 11001–12000 of 12000");
        assert!(browser.text("#L12000").await.contains("order 12000 of 12000 is settled"));
        browser.press(".log-pages a").await;
        browser.find("#L1").await;
        browser.close().await;
    });
}
