//! Signing in, the first steps, and what an operator does all day.

use carillon_scheduler::{JobDraft, ScheduleDraft};

use super::chromium::{Browser, Kind};
use super::live::Live;
use super::run;

#[test]
fn signing_in_leads_back_to_the_page_asked_for() {
    run(async {
        let live = Live::start().await;
        let browser = Browser::open(&live, Kind::default()).await;
        browser.go("/jobs").await;
        browser.until_at("/login?next=%2Fjobs").await;
        browser.sign_in(live.name, "not the password").await;
        assert_eq!(browser.text("#login-error").await, "Name or password is wrong.");
        let focused = browser.script("return document.activeElement.id").await;
        assert_eq!(focused, "password", "the name is kept, the password is asked for again");
        browser.fill("#password", &live.password).await;
        browser.press("main form button").await;
        browser.until_at("/jobs").await;
        let zone = browser.script("return Intl.DateTimeFormat().resolvedOptions().timeZone").await;
        assert!(browser.text(".foot").await.contains(zone.as_str().unwrap()), "times are the browser's");
        assert_eq!(browser.script("return document.cookie").await, "", "no script sees the cookies");
        browser.close().await;
    });
}

#[test]
fn the_first_steps_go_on_without_a_reload() {
    run(async {
        let live = Live::start().await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.find("[data-testid=first-steps] li[data-done=false]").await;
        browser.script("window.same = true").await;
        let _executor = live.executor("fresh-app").await;
        browser.find("[data-testid=first-steps] li:first-child[data-done=true]").await;
        assert_eq!(browser.script("return window.same").await, true, "it is the same page");
        browser.press("[data-testid=first-steps] button").await;
        browser.until_at("/apps").await;
        assert_eq!(browser.text("[data-testid=flash]").await, "The app fresh-app is created.");
        browser.close().await;
    });
}

#[test]
fn a_job_is_paused_and_resumed_in_the_list() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let mut draft = JobDraft::new("orders", "Close the day", "echo");
        draft.schedule = ScheduleDraft::cron("0 0 3 * * ?", "UTC");
        live.job(draft).await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/jobs?text=close").await;
        browser.press("button[aria-label='Pause Close the day']").await;
        browser.find("tr[data-state=paused] button[aria-label='Resume Close the day']").await;
        browser.until_at("/jobs?text=close").await;
        assert_eq!(browser.text("[data-testid=flash]").await, "Close the day is paused.");
        browser.press("button[aria-label='Resume Close the day']").await;
        browser.find("tr[data-state=enabled] time").await;
        browser.close().await;
    });
}

#[test]
fn a_deleted_job_was_asked_about() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let job = live.job(JobDraft::new("orders", "Old one", "echo")).await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/jobs").await;
        browser.press("a[aria-label='Delete Old one']").await;
        assert!(browser.text("[data-testid=question] h1").await.contains("Delete Old one?"));
        assert!(live.store.jobs().get(job.id).await.unwrap().is_some());
        browser.press("[data-testid=question] button").await;
        browser.until_at("/jobs").await;
        assert!(live.store.jobs().get(job.id).await.unwrap().is_none());
        browser.close().await;
    });
}

// covers: A10
#[test]
fn a_form_survives_the_end_of_the_session() {
    run(async {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        browser.go("/jobs/new").await;
        browser.fill("#name", "Typed for an hour").await;
        browser.fill("#handler", "echo").await;
        browser.fill("#params", "one & \"two\"").await;
        browser.fill("#expression", "0 0 3 * * ?").await;
        browser.client.delete_all_cookies().await.unwrap();
        browser.press("button[value=save]").await;
        browser.find("[data-testid=signed-out]").await;
        browser.sign_in(live.name, &live.password).await;
        // The script goes on to the form by itself.
        browser.find("[data-testid=job-form]").await;
        let value = async |id: &str| {
            let script = format!("return document.getElementById('{id}').value");
            browser.script(&script).await
        };
        assert_eq!(value("params").await, "one & \"two\"");
        assert_eq!(value("name").await, "Typed for an hour");
        browser.press("button[value=save]").await;
        browser.until_at("/jobs/1").await;
        browser.close().await;
    });
}
