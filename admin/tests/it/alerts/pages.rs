//! The pages of alerts, their rules and their channels.

use carillon_alerts::channel::ChannelKind;
use carillon_alerts::manage::ChannelDraft;
use carillon_scheduler::AlarmKind;
use carillon_store::alarm::alarms::Alarm;

use crate::conformance::fixture::actor;
use crate::console::client::{Console, ConsoleClient};
use crate::services::runtime;

/// A console with a job `Close books` and a channel for all apps.
async fn start() -> (Console, ConsoleClient, i64) {
    let console = Console::start().await;
    let admin = console.admin().await;
    let draft = ChannelDraft { all_apps: true, ..ChannelDraft::new("Mailbox", ChannelKind::File) };
    let channel = console.alerts.create_channel(draft, &actor()).await.unwrap().id;
    (console, admin, channel)
}

// covers: B16
#[test]
fn the_pages_of_alerts_are_live() {
    runtime().block_on(async {
        let (console, admin, channel) = start().await;
        console.alerts.test_channel(channel, &actor()).await.unwrap();
        let page = format!("/alerts/channels/{channel}");
        for path in ["/alerts", "/alerts/rules", "/alerts/channels", &page] {
            let body = admin.get(path).await.body;
            assert!(body.contains("data-live-part"), "{path}");
        }
        let waiting = admin.get(&page).await.body;
        assert!(waiting.contains("data-live-part data-moving"), "looked at each second while a message waits");
        console.alerts.deliverer.round().await.unwrap();
        assert!(!admin.get(&page).await.body.contains("data-moving"));
    });
}

// covers: B7
#[test]
fn jobs_of_a_rule_are_chosen_by_name_and_shown_in_the_list() {
    runtime().block_on(async {
        let (console, admin, channel) = start().await;
        let job = console.job(|draft| draft.name = "Close books".to_owned()).await;
        let (app, channel) = (job.draft.app.clone(), channel.to_string());
        let base = [("name", "night"), ("app", app.as_str()), ("kinds", "failed"), ("channels", channel.as_str())];
        let wrong = admin.submit("/alerts/rules", &[&base[..], &[("child_name", "Open books")]].concat()).await;
        assert_eq!(wrong.status, 422);
        assert!(
            wrong.error("child_name").is_some_and(|error| error.contains("No job is called")),
            "{:?}",
            wrong.error("child_name")
        );
        let gone = admin.submit("/alerts/rules", &[&base[..], &[("children", "999999")]].concat()).await;
        assert!(
            gone.error("child_name").is_some_and(|error| error.contains("there is no job 999999")),
            "{}",
            gone.status
        );
        let added = [&base[..], &[("child_name", "Close books"), ("step", "add_child")]].concat();
        let label = format!("Close books ({app} #{})", job.id);
        assert!(admin.submit("/alerts/rules", &added).await.body.contains(&label));
        let saved = admin.submit("/alerts/rules", &[&base[..], &[("child_name", "Close books")]].concat()).await;
        assert_eq!(saved.status, 303, "{}", saved.body);
        assert!(admin.get("/alerts/rules").await.body.contains(&format!("only {label}")));
    });
}

// covers: B4
#[test]
fn a_new_rule_has_what_people_want_to_know_first_and_times_have_units() {
    runtime().block_on(async {
        let (console, admin, channel) = start().await;
        let page = admin.get("/alerts/rules/new").await.body;
        for kind in ["failed", "no_executor", "long_running"] {
            assert!(page.contains(&format!("value=\"{kind}\" checked")), "{kind}");
        }
        let channel = channel.to_string();
        let base = [("name", "r"), ("kinds", "failed"), ("channels", channel.as_str())];
        let wrong = admin.submit("/alerts/rules", &[&base[..], &[("group_seconds", "5 parsecs")]].concat()).await;
        assert!(wrong.error("group_seconds").is_some_and(|error| error.contains("is not a time")));
        admin
            .submit("/alerts/rules", &[&base[..], &[("group_seconds", "10m"), ("repeat_seconds", "1h 30m")]].concat())
            .await;
        let rule = console.store.alerts().rules_to_match().await.unwrap().remove(0).definition;
        assert_eq!((rule.group_seconds, rule.repeat_seconds), (600, Some(5_400)));
    });
}

// covers: B4
#[test]
fn alerts_are_filtered_and_handled_together() {
    runtime().block_on(async {
        let (console, admin, channel) = start().await;
        let (one, other) = (console.job(|draft| draft.name = "one".to_owned()).await, console.job(|_| {}).await);
        let rule = serde_json::json!({"name": "r", "kinds": ["failed"], "group_by": "job", "channels": [channel]});
        console.alerts.create_rule(serde_json::from_value(rule).unwrap(), &actor()).await.unwrap();
        for (job, run) in [(one.id, 1), (other.id, 2)] {
            let alarm =
                Alarm { kind: AlarmKind::Failed, job_id: Some(job), run_id: Some(run), text: "boom".to_owned() };
            let _raised = console.store.alarms().raise_alone(alarm, 1).await.unwrap();
        }
        console.alerts.router.round().await.unwrap();
        let rows = async |path: &str| admin.get(path).await.body.matches("name=\"id\" value=").count();
        assert_eq!((rows("/alerts").await, rows("/alerts?kind=failed&state=open").await), (2, 2));
        assert_eq!((rows("/alerts?kind=misfire").await, rows("/alerts?state=acknowledged").await), (0, 0));
        assert_eq!(admin.get("/alerts?state=shut").await.status, 400);
        let filter = carillon_store::alert::alerts::AlertFilter { limit: 10, ..Default::default() };
        let ids: Vec<String> = console
            .store
            .alerts()
            .list(&filter)
            .await
            .unwrap()
            .items
            .iter()
            .map(|alert| alert.id.to_string())
            .collect();
        let chosen: Vec<(&str, &str)> = ids.iter().map(|id| ("id", id.as_str())).collect();
        let back = [("action", "acknowledge"), ("back", "/alerts?state=open")];
        let done = admin.submit("/alerts/bulk", &[&chosen[..], &back[..]].concat()).await;
        assert_eq!((done.status, done.location()), (303, "/alerts?state=open"));
        assert_eq!(rows("/alerts?state=acknowledged").await, 2);
        let elsewhere = [("action", "silence_1h"), ("back", "https://evil.example/")];
        let done = admin.submit("/alerts/bulk", &[&chosen[..1], &elsewhere[..]].concat()).await;
        assert_eq!(done.location(), "/", "not to another site");
        assert!(admin.get(&format!("/alerts/{}", ids[0])).await.body.contains("Silent until"));
    });
}
