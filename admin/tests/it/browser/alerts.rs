//! From an empty page of alerts to a message about a failed run, and an alert that is acknowledged.

use carillon_scheduler::{JobDraft, ScheduleDraft};

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;
use crate::alerts::receiver::Receiver;

#[test]
fn a_channel_and_a_rule_make_a_message_of_a_failed_run() {
    run(async {
        let (live, receiver) = (Live::start().await, Receiver::start("ok").await);
        live.app("orders", "Orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/alerts/channels/new?kind=webhook").await;
        browser.fill("#name", "Hook").await;
        browser.fill("#url", "ftp://example.org/").await;
        browser.fill("#template", "{\"text\": \"{{title}}\", \"more\": \"{{nothing}}\"}").await;
        browser.press(".form-end button").await;
        let errors = browser.text("[data-testid=errors]").await;
        assert!(errors.contains("URL: is not a URL") && errors.contains("no placeholder `{{nothing}}`"), "{errors}");
        let kept = browser.script("return document.querySelector('#name').value").await;
        assert_eq!(kept, "Hook", "nothing that was typed is lost");
        browser.fill("#url", &receiver.url).await;
        browser.script("document.querySelector('#all_apps').click()").await;
        browser.fill("#template", "{\"text\": \"{{title}}\"}").await;
        browser.press(".form-end button").await;
        browser.press("form[action$='/test'] button").await;
        browser.until("the test message", async || !receiver.received().is_empty()).await;
        assert_eq!(receiver.received()[0].body["text"], "Carillon: this is a test message");

        browser.go("/alerts/rules/new").await;
        browser.fill("#name", "Failures").await;
        browser.press(".form-end button").await;
        assert!(browser.text("[data-testid=errors]").await.contains("Channels: choose 1 to 20"));
        // The bar with the button may lie over it.
        browser.script("document.querySelector('#channels input').click()").await;
        browser.press(".form-end button").await;
        browser.until_at("/alerts/rules").await;
        assert!(browser.text("[data-testid=rules]").await.contains("Failures"));

        let _executor = live.executor("orders").await;
        let mut draft = JobDraft::new("orders", "Close the day", "fails");
        draft.schedule = ScheduleDraft::fixed_rate(1);
        live.job(draft).await;
        browser.until("the message", async || receiver.received().len() > 1).await;
        let title = receiver.received()[1].body["text"].as_str().unwrap().to_owned();
        assert!(title.starts_with("orders: job Close the day failed"), "{title}");
        browser.go("/alerts").await;
        browser.press("[data-testid=alerts-open] a.main").await;
        assert!(browser.text("[data-testid=items]").await.contains("Close the day"));
        browser.fill("#note", "I look at the disk").await;
        browser.press("[data-testid=acknowledge-form] button").await;
        browser.find("[data-testid=flash]").await;
        assert!(browser.text("main").await.contains("I look at the disk"));
        browser.assert_quiet().await;
        browser.close().await;
    });
}
