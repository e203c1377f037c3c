//! A job by the form: the next fires while a schedule is typed, errors at their field, nothing lost.

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;

#[test]
fn the_next_fires_appear_while_a_cron_is_typed() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/jobs/new").await;
        browser.fill("#timezone", "Asia/Shanghai").await;
        browser.fill("#expression", "0 15 10 ? * 6#3").await;
        browser.find("[data-testid=preview] tr[data-testid=fire]:nth-child(5)").await;
        let days = browser
            .script(
                "return [...document.querySelectorAll('[data-testid=fire] td:first-child')].map(it => it.textContent)",
            )
            .await;
        let days: Vec<&str> = days.as_array().unwrap().iter().map(|day| day.as_str().unwrap()).collect();
        assert_eq!(days.len(), 5);
        assert!(days.iter().all(|day| day.starts_with("Fri ") && day.ends_with("10:15:00")), "{days:?}");
        assert!(days.is_sorted_by_key(|day| &day[4..]));

        browser.fill("#expression", "0 0 25 * * ?").await;
        browser.find("#expression[aria-invalid=true]").await;
        assert!(browser.text("[data-testid=preview]").await.contains("hour field: 25 is not allowed"));
        browser.fill("#expression", "0 0 5 * * ?").await;
        browser.find("#expression:not([aria-invalid])").await;
        browser.close().await;
    });
}

#[test]
fn a_refused_form_keeps_what_was_typed_and_leads_to_its_errors() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/jobs/new").await;
        browser.fill("#name", "Close the day").await;
        browser.fill("#params", "{\"all\": true}").await;
        browser.fill("#expression", "0 0 25 * * ?").await;
        browser.press("button[value=save]").await;
        let summary = browser.text("[data-testid=errors]").await;
        assert!(
            summary.contains("Handler: must not be empty") && summary.contains("Cron expression: hour field"),
            "{summary}"
        );
        let focused = browser.script("return document.activeElement.dataset.testid").await;
        assert_eq!(focused, "errors");
        let kept = browser.script("return [...document.forms].at(-1).elements.params.value").await;
        assert_eq!(kept, "{\"all\": true}");
        browser.press("[data-testid=errors] a[href='#handler']").await;
        browser.find("#handler[aria-invalid=true][aria-describedby=handler-error]").await;

        browser.fill("#handler", "closeDay").await;
        browser.fill("#expression", "0 0 5 * * ?").await;
        browser.press("button[value=save]").await;
        assert_eq!(browser.text("h1").await, "Close the day");
        assert_eq!(browser.text("[data-testid=flash]").await, "Close the day is created.");
        let next = live.store.jobs().get(1).await.unwrap().unwrap().next_fire_at;
        assert!(next.is_some());
        browser.close().await;
    });
}

#[test]
fn the_kind_of_schedule_shows_its_own_fields() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/jobs/new").await;
        let shown = async |css: &str| browser.find(css).await.is_displayed().await.unwrap();
        assert!(shown("#expression").await && !shown("#seconds").await);
        browser.press("#kind-fixed_rate").await;
        assert!(!shown("#expression").await && shown("#seconds").await);
        browser.fill("#seconds", "90").await;
        browser.find("[data-testid=fire]:nth-child(5)").await;
        browser.press("#kind-daily").await;
        assert!(shown("#weekdays").await && shown("#timezone").await && !shown("#seconds").await);
        browser.fill("#every_seconds", "36000").await;
        browser.press("#weekday-SUN").await;
        let preview = browser.find("#preview").await;
        browser
            .until("its days and hours are left", async || {
                let text = preview.text().await.unwrap();
                text.contains(" 18:00:00") && !text.contains("Sun ")
            })
            .await;
        browser.press("#kind-once").await;
        assert!(shown("#at").await && !shown("#timezone").await);
        browser.press("#kind-unix_cron").await;
        assert!(shown("#expression").await && shown("#timezone").await);
        browser.press("#kind-none").await;
        assert!(!shown("#seconds").await && !shown("#preview").await);
        browser.fill("#name", "By hand").await;
        browser.fill("#handler", "echo").await;
        browser.press("button[value=run]").await;
        browser.until_at("/jobs/1/run").await;
        browser.close().await;
    });
}

// covers: B6
#[test]
fn the_side_bar_stays_when_a_page_is_scrolled() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/jobs/new").await;
        let top = "window.scrollTo(0, 400); const side = document.querySelector('.side').getBoundingClientRect(); \
                   return [Math.round(window.scrollY), Math.round(side.top)]";
        assert_eq!(browser.script(top).await, serde_json::json!([400, 0]));
        browser.close().await;
    });
}
