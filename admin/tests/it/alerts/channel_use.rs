//! Who may use a channel, how much it takes, and for whom its messages are written.

use carillon_admin::config::PublicUrl;
use carillon_alerts::channel::ChannelKind;
use carillon_alerts::manage::{ChannelDraft, shown_answer};
use carillon_store::alert::deliveries::DeliveryState;
use carillon_store::{Actor, Grants, Role};
use serde_json::{Value, json};

use super::receiver::Receiver;
use super::world::World;
use crate::conformance::fixture::actor;

impl World {
    /// A file for this app alone.
    async fn file_of(&self, app: &str) -> i64 {
        let usual = ChannelDraft::new(format!("file of {app}"), ChannelKind::File);
        self.channel_of(ChannelDraft { apps: vec![app.to_owned()], ..usual }).await
    }

    /// What is wrong with a rule.
    async fn wrong(&self, more: Value) -> String {
        let mut rule = json!({"name": "wrong", "kinds": ["failed"]});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = self.alerts.create_rule(serde_json::from_value(rule).unwrap(), &actor()).await;
        made.map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
    }
}

databases! {
    // covers: W3
    async fn a_channel_is_used_by_the_apps_that_it_names(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let shipping = world.engine.apps().create("shipping", None, &actor()).await.unwrap();
        let none = world.channel_of(ChannelDraft::new("none", ChannelKind::File)).await;
        let billing = world.file_of("billing").await;
        let refused = |id: i64| format!("there is no channel {id} that the rule may use");
        for (rule, said) in [
            (json!({"app": "billing", "channels": [none]}), format!("channels: {}", refused(none))),
            (json!({"app": "shipping", "channels": [billing]}), format!("channels: {}", refused(billing))),
            (json!({"channels": [billing]}), format!("channels: {}", refused(billing))),
            (
                json!({"app": "billing", "channels": [billing], "escalation": {"channels": [none], "after_seconds": 60}}),
                format!("escalation.channels: {}", refused(none)),
            ),
            (json!({"app": "billing", "channels": [billing]}), "nothing".to_owned()),
        ] {
            assert_eq!(world.wrong(rule.clone()).await, said, "{rule}");
        }
        let editor = Actor::new("session", "eve", Grants::for_app(shipping.id, Role::Editor));
        assert!(world.alerts.channels(&editor).await.unwrap().is_empty(), "none is for an app of hers");
        assert!(world.alerts.channel(billing, &editor).await.unwrap_err().to_string().contains("there is no"));
    }

    // covers: W3
    async fn a_channel_that_was_taken_away_ends_what_waits_for_it(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let channel = world.file_of("billing").await;
        world.rule(channel, json!({"app": "billing"})).await;
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        let draft = ChannelDraft::new("of nobody", ChannelKind::File);
        world.alerts.update_channel(channel, draft, None, &actor()).await.unwrap();
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 1);
        let delivery = world.deliveries().await.remove(0);
        assert_eq!(delivery.state(), DeliveryState::Failed);
        assert_eq!(delivery.answer.as_deref(), Some("the app of the alert may not use the channel any more"));
    }

    // covers: W3
    async fn a_channel_takes_so_many_messages_an_hour_and_one_about_the_others(db: &TestDatabase) {
        let world = World::start(db, 10).await;
        let receiver = Receiver::start("ok").await;
        let settings = serde_json::from_value(json!({"url": receiver.url})).unwrap();
        let usual = ChannelDraft::new("hook", ChannelKind::Webhook);
        let channel = world.channel_of(ChannelDraft { settings, all_apps: true, per_hour: 4, ..usual }).await;
        world.rule(channel, json!({"group_by": "job"})).await;
        for (run, job) in world.jobs.iter().enumerate() {
            world.fail(*job, run as i64 + 1).await;
        }
        world.round().await;
        let count = async |state: DeliveryState| {
            world.deliveries().await.iter().filter(|it| it.state() == state).count()
        };
        assert_eq!((count(DeliveryState::LeftOut).await, count(DeliveryState::Pending).await), (6, 5));
        while world.alerts.deliverer.round().await.unwrap() > 0 {}
        assert_eq!(receiver.received().len(), 4);
        // Ends are never left out, and go to those that got the beginning.
        for (place, job) in world.jobs.iter().enumerate() {
            world.succeed(*job, 100 + place as i64).await;
        }
        world.later(11);
        world.round().await;
        while world.alerts.deliverer.round().await.unwrap() > 0 {}
        assert_eq!(receiver.received().len(), 4 + 4);
        world.later(3_600);
        while world.alerts.deliverer.round().await.unwrap() > 0 {}
        let received = receiver.received();
        assert_eq!(received.len(), 4 + 4 + 1);
        assert_eq!(received[8].body["title"], "Carillon: 6 more messages were left out");
        world.fail(world.jobs[0], 200).await;
        world.round().await;
        assert_eq!(count(DeliveryState::Pending).await, 1, "there is room again");
    }

    // covers: B4
    async fn a_message_has_links_and_the_language_and_zone_of_its_channel(db: &TestDatabase) {
        let public = PublicUrl::parse("https://c.example/carillon").unwrap();
        let world = World::with(db, 1, |config| config.public_url = Some(public)).await;
        let receiver = Receiver::start("ok").await;
        let settings = serde_json::from_value(json!({"url": receiver.url})).unwrap();
        let (language, zone) = ("zh".to_owned(), "Asia/Shanghai".to_owned());
        let usual = ChannelDraft::new("hook", ChannelKind::Webhook);
        let channel = world.channel_of(ChannelDraft { settings, all_apps: true, language, zone, ..usual }).await;
        world.rule(channel, json!({})).await;
        world.fail(world.jobs[0], 17).await;
        world.round().await;
        world.alerts.deliverer.round().await.unwrap();
        let alert = world.open().await[0].id;
        let body = receiver.received().remove(0).body;
        assert_eq!(body["title"], "billing：任务 job 0 失败（failures）");
        assert_eq!(body["message"]["alert_url"], format!("https://c.example/carillon/alerts/{alert}"));
        assert_eq!(body["message"]["items"][0]["run_url"], "https://c.example/carillon/runs/17");
        let text = body["text"].as_str().unwrap();
        assert!(text.contains("https://c.example/carillon/runs/17") && text.contains("2025-10-09 16:54:00 Asia/Shanghai"), "{text}");
    }

    async fn a_channel_says_which_language_zone_and_limit_are_wrong(db: &TestDatabase) {
        let world = World::start(db, 0).await;
        let usual = ChannelDraft::new("x", ChannelKind::File);
        let (language, zone) = ("xx".to_owned(), "Mars/Phobos".to_owned());
        let apps = vec!["nowhere".to_owned()];
        let draft = ChannelDraft { language, zone, apps, per_hour: 0, ..usual };
        let error = world.alerts.create_channel(draft, &actor()).await.unwrap_err().to_string();
        for said in [
            "apps: there is no app \"nowhere\"",
            "language: `xx` is not a language of messages; allowed: en, zh",
            "zone: `Mars/Phobos` is not a time zone",
            "per_hour: write a number from 1 to 10000",
        ] {
            assert!(error.contains(said), "{error}");
        }
    }

    // covers: W14
    async fn the_answer_of_a_receiver_is_for_administrators_of_all_apps(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let receiver = Receiver::start("internal.example refused ops@example.org").await;
        let channel = world.channel(ChannelKind::Webhook, json!({"url": receiver.url})).await;
        world.rule(channel, json!({})).await;
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        world.alerts.deliverer.round().await.unwrap();
        let delivery = world.deliveries().await.remove(0);
        let app = world.store.apps().by_name("billing").await.unwrap().unwrap().id;
        let viewer = Actor::new("session", "eve", Grants::for_app(app, Role::Admin));
        assert_eq!(shown_answer(&delivery, &viewer).as_deref(), Some("HTTP 200"));
        assert!(shown_answer(&delivery, &actor()).unwrap().contains("internal.example"));
        let mail = carillon_store::alert::deliveries::Delivery { answer: Some("250 queued at mx1".to_owned()), ..delivery };
        assert_eq!(shown_answer(&mail, &viewer).as_deref(), Some("delivered"));
    }
}
