//! What becomes of a message at receivers that are slow, refuse or break off.

use std::collections::BTreeMap;

use carillon_alerts::channel::ChannelKind;
use carillon_alerts::manage::ChannelDraft;
use carillon_scheduler::AuditObjectKind;
use carillon_store::alert::deliveries::DeliveryState;
use carillon_store::audit::list::AuditFilter;
use carillon_testkit::wait_for;
use serde_json::json;
use tokio::net::TcpListener;

use super::receiver::{Receiver, Reply};
use super::world::{NOW, World};
use crate::conformance::fixture::actor;

pub async fn with_alert(world: &World, channel: i64) {
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
        let taken = world.store.alerts().claim_deliveries(&BTreeMap::new(), 60_000, NOW).await.unwrap();
        assert_eq!(taken.len(), 1);
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 0, "another node sends it");
        world.later(61);
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 1);
        assert_eq!(world.deliveries().await[0].state(), DeliveryState::Sent);
        assert_eq!(receiver.received().len(), 1);
    }

    async fn what_waits_for_a_channel_that_asks_for_a_pause_goes_out_after_it(db: &TestDatabase) {
        let world = World::start(db, 25).await;
        let receiver = Receiver::start("ok").await;
        let channel = world.channel(ChannelKind::Webhook, json!({"url": receiver.url})).await;
        world.rule(channel, json!({"group_by": "job"})).await;
        for (run, job) in world.jobs.iter().enumerate() {
            world.fail(*job, run as i64 + 1).await;
        }
        world.round().await;
        (0..5).for_each(|_| receiver.reply(Reply::TooMany(90)));
        let deliverer = &world.alerts.deliverer;
        assert_eq!(deliverer.round().await.unwrap(), 5);
        assert_eq!(deliverer.round().await.unwrap(), 0, "the other twenty wait too");
        world.later(120);
        for _ in 0..5 {
            assert_eq!(deliverer.round().await.unwrap(), 5);
        }
        assert_eq!(receiver.received().len(), 5 + 25);
    }

    async fn a_channel_that_cannot_be_reached_keeps_no_other_waiting(db: &TestDatabase) {
        let world = World::start(db, 40).await;
        let receiver = Receiver::start("ok").await;
        // Nothing listens there.
        let down = world.channel(ChannelKind::Webhook, json!({"url": "http://127.0.0.1:1/"})).await;
        let up = world.channel_with(ChannelKind::Slack, json!({}), json!({"url": receiver.url})).await;
        world.rule(down, json!({"group_by": "job"})).await;
        for (run, job) in world.jobs.iter().enumerate() {
            world.fail(*job, run as i64 + 1).await;
        }
        world.round().await;
        world.alerts.test_channel(up, &actor()).await.unwrap();
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 6, "each channel has five places");
        assert_eq!(receiver.received().len(), 1);
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 0, "the others wait");
    }

    // covers: G17, R119
    async fn a_channel_that_hangs_delays_no_other(db: &TestDatabase) {
        let world = World::start(db, 60).await;
        let receiver = Receiver::start("ok").await;
        // The connection is taken, and no word comes.
        let hangs = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = hangs.local_addr().unwrap().port();
        let mail = json!({"host": "127.0.0.1", "port": port, "tls": "none", "from": "a@example.org", "to": ["b@example.org"]});
        let mail = world.channel(ChannelKind::Email, mail).await;
        let hook = world.channel(ChannelKind::Webhook, json!({"url": receiver.url})).await;
        world.rule(mail, json!({"group_by": "job", "channels": [mail, hook]})).await;
        for (run, job) in world.jobs.iter().enumerate() {
            world.fail(*job, run as i64 + 1).await;
        }
        world.round().await;
        let to = async |channel: i64, state: DeliveryState| {
            let deliveries = world.deliveries().await;
            deliveries.iter().filter(|it| it.channel_id == channel && it.state() == state).count()
        };
        wait_for("the messages of the webhook", async || {
            world.alerts.deliverer.start().await.unwrap();
            to(hook, DeliveryState::Sent).await == 60
        })
        .await;
        let tried = world.deliveries().await.iter().filter(|it| it.channel_id == mail && it.attempts > 0).count();
        let answered = world.deliveries().await.iter().filter(|it| it.channel_id == mail && it.answer.is_some()).count();
        assert_eq!((to(mail, DeliveryState::Pending).await, tried, answered), (60, 5, 0), "it still hangs");
    }

    async fn the_end_of_an_alert_waits_for_what_was_said_before_it(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let receiver = Receiver::start("ok").await;
        let channel = world.channel(ChannelKind::Webhook, json!({"url": receiver.url})).await;
        receiver.reply(Reply::TooMany(90));
        with_alert(&world, channel).await;
        let deliverer = &world.alerts.deliverer;
        assert_eq!(deliverer.round().await.unwrap(), 1);
        world.succeed(world.jobs[0], 2).await;
        world.later(11);
        world.round().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
        assert_eq!(deliverer.round().await.unwrap(), 0, "an incident that is opened after its end would stay open");
        world.later(90);
        assert_eq!((deliverer.round().await.unwrap(), deliverer.round().await.unwrap()), (1, 1));
        let kinds: Vec<_> = receiver.received().iter().map(|it| it.body["message"]["kind"].clone()).collect();
        assert_eq!(kinds, ["opened", "opened", "resolved"]);
    }

    // covers: S20
    async fn no_message_goes_to_an_address_that_is_denied(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let channel = world.channel(ChannelKind::Webhook, json!({"url": "http://169.254.169.254/latest"})).await;
        with_alert(&world, channel).await;
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 1);
        let answer = world.deliveries().await.remove(0).answer.unwrap();
        assert!(answer.contains("169.254.169.254 is an address that no executor can have"), "{answer}");
    }

    async fn a_test_of_a_channel_is_in_the_audit(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        let delivery = world.alerts.test_channel(channel, &actor()).await.unwrap();
        let filter = AuditFilter { object: Some(AuditObjectKind::AlertChannel), limit: 10, ..AuditFilter::default() };
        let entries = world.store.audit().list(&filter).await.unwrap().items;
        assert_eq!((entries[0].action.as_str(), entries[0].actor.as_str()), ("run", "ada"));
        assert!(entries[0].detail.contains(&delivery.to_string()));
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
        let world = World::with_keys(db, 1, Default::default()).await;
        let draft = ChannelDraft {
            secrets: serde_json::from_value(json!({"url": "https://hooks.example/x"})).unwrap(),
            ..ChannelDraft::new("chat", ChannelKind::Slack)
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
