//! What becomes of a message at receivers that are slow, refuse or break off.

use carillon_alerts::channel::ChannelKind;
use carillon_store::alert::deliveries::DeliveryState;
use serde_json::json;

use super::receiver::{Receiver, Reply, mail_server};
use super::world::{NOW, World};
use crate::conformance::fixture::actor;

async fn with_alert(world: &World, channel: i64) {
    world.rule(channel, json!({})).await;
    world.fail(world.jobs[0], 1).await;
    world.round().await;
}

databases! {
    async fn a_message_is_tried_until_it_is_taken_always_with_the_same_id(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let receiver = Receiver::start("ok").await;
        let channel = world.channel(ChannelKind::Webhook, json!({"url": receiver.url})).await;
        for reply in [Reply::Cut, Reply::TooMany(90), Reply::Status(503, "away"), Reply::Status(302, "")] {
            receiver.reply(reply);
        }
        with_alert(&world, channel).await;
        let deliverer = &world.alerts.deliverer;
        for tries in 1..=4 {
            assert_eq!(deliverer.round().await.unwrap(), 1, "try {tries}");
            assert_eq!(deliverer.round().await.unwrap(), 0, "not before its time");
            let delivery = world.deliveries().await.remove(0);
            assert_eq!((delivery.state(), delivery.attempts), (DeliveryState::Pending, tries));
            if tries == 2 {
                assert!(delivery.next_at.unwrap() >= NOW + 90_000, "as the channel asks");
                assert!(delivery.answer.unwrap().contains("HTTP 429"));
            }
            world.later(120);
        }
        // Two nodes: one of them takes it.
        let (one, other) = tokio::join!(deliverer.round(), deliverer.round());
        assert_eq!(one.unwrap() + other.unwrap(), 1);
        let delivery = world.deliveries().await.remove(0);
        assert_eq!((delivery.state(), delivery.attempts, delivery.answer.as_deref()), (DeliveryState::Sent, 5, Some("HTTP 200: ok")));
        let ids: std::collections::BTreeSet<String> =
            receiver.received().iter().map(|it| it.header("carillon-event-id").to_owned()).collect();
        assert_eq!((receiver.received().len(), ids.len()), (5, 1));
    }

    async fn a_node_that_dies_between_sending_and_recording_loses_nothing(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let receiver = Receiver::start("ok").await;
        let channel = world.channel(ChannelKind::Webhook, json!({"url": receiver.url})).await;
        with_alert(&world, channel).await;
        let taken = world.store.claim_deliveries(10, 60_000, NOW).await.unwrap();
        assert_eq!(taken.len(), 1);
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 0, "another node sends it");
        world.later(61);
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 1);
        assert_eq!(world.deliveries().await[0].state(), DeliveryState::Sent);
        assert_eq!(receiver.received().len(), 1);
    }

    async fn a_message_is_given_up_after_a_day_and_a_test_at_once(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        // Nothing listens there.
        let channel = world.channel(ChannelKind::Webhook, json!({"url": "http://127.0.0.1:1/"})).await;
        with_alert(&world, channel).await;
        world.alerts.test_channel(channel, &actor()).await.unwrap();
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 2);
        let states: Vec<DeliveryState> = world.deliveries().await.iter().map(|it| it.state()).collect();
        assert_eq!(states, [DeliveryState::Pending, DeliveryState::Failed]);
        world.later(86_400);
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 1);
        let delivery = world.deliveries().await.remove(0);
        assert_eq!(delivery.state(), DeliveryState::Failed);
        assert!(delivery.answer.unwrap().contains("refused"));
    }

    async fn a_channel_with_a_secret_needs_a_key_and_a_used_one_stays(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let draft = carillon_alerts::manage::ChannelDraft {
            name: "chat".to_owned(),
            kind: ChannelKind::Slack,
            settings: Default::default(),
            secrets: serde_json::from_value(json!({"url": "https://hooks.example/x"})).unwrap(),
        };
        let error = world.alerts.create_channel(draft, &actor()).await.unwrap_err().to_string();
        assert!(error.starts_with("url: no key for secrets is set") && error.contains("--secret-key-file"), "{error}");
        let channel = world.channel(ChannelKind::File, json!({})).await;
        let rule = world.rule(channel, json!({})).await;
        let error = world.alerts.delete_channel(channel, &actor()).await.unwrap_err().to_string();
        assert!(error.contains("the rule \"failures\" uses the channel"), "{error}");
        world.alerts.delete_rule(rule, &actor()).await.unwrap();
        world.alerts.delete_channel(channel, &actor()).await.unwrap();
    }
}

#[test]
fn a_mail_goes_to_all_recipients() {
    use crate::services::{Kind, TestDatabase, on};
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let world = World::start(db, 1).await;
        let (port, taken) = mail_server().await;
        let settings = json!({
            "host": "127.0.0.1", "port": port, "tls": "none", "from": "carillon@example.org",
            "to": ["ada@example.org", "bob@example.org"]
        });
        let channel = world.channel(ChannelKind::Email, settings).await;
        with_alert(&world, channel).await;
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 1);
        let told = taken.await.unwrap();
        for part in
            ["RCPT TO:<ada@example.org>", "RCPT TO:<bob@example.org>", "Subject: billing: job job 0 failed (failures)"]
        {
            assert!(told.contains(part), "{part} is not in {told}");
        }
        let delivery = world.deliveries().await.remove(0);
        assert_eq!((delivery.state(), delivery.answer.as_deref()), (DeliveryState::Sent, Some("250 queued as 7")));
    });
}
