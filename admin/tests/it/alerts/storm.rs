//! Many alarms are few messages, and none is lost or counted twice.

use carillon_alerts::AlertRouter;
use carillon_alerts::channel::ChannelKind;
use carillon_alerts::message::Links;
use serde_json::json;
use std::sync::Arc;

use super::receiver::Receiver;
use super::world::World;

databases! {
    async fn a_thousand_failures_are_a_handful_of_messages_also_with_two_routers(db: &TestDatabase) {
        let world = World::start(db, 20).await;
        let receiver = Receiver::start("ok").await;
        let channel = world.channel(ChannelKind::Webhook, json!({"url": receiver.url})).await;
        world.rule(channel, json!({"repeat_seconds": 600})).await;
        for number in 0..1_000 {
            world.fail(world.jobs[number as usize % 20], number + 1).await;
        }
        let second = AlertRouter::new(world.engine.clone(), Arc::default(), Links::default());
        for _ in 0..10 {
            // One of them may be told that the other was faster.
            let _ = tokio::join!(world.alerts.router.round(), second.round());
        }
        let open = world.open().await;
        assert_eq!((open.len(), open[0].events, open[0].app.as_deref()), (1, 1_000, Some("billing")));
        assert_eq!(world.store.alerts().unrouted_alarms().await.unwrap(), []);
        world.later(301);
        world.fail(world.jobs[0], 2_000).await;
        world.round().await;
        world.round().await;
        let told = world.told().await;
        assert!(told.len() <= 3 && told[0] == "opened", "{told:?}");
        assert_eq!((world.open().await[0].events, world.open().await[0].told), (1_001, 1_001));
        while world.alerts.deliverer.round().await.unwrap() > 0 {}
        // Those that are sent together arrive in any order.
        let received = receiver.received();
        let last = received.iter().max_by_key(|it| it.body["message"]["events"].as_i64()).unwrap();
        assert_eq!(last.body["message"]["events"], 1_001);
        assert_eq!(last.body["message"]["open_items"], 20);
    }

    async fn an_alert_ends_with_a_success_and_opens_anew_after_further_failures_in_a_row(db: &TestDatabase) {
        let world = World::start(db, 2).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        world.rule(channel, json!({"threshold": 3, "group_by": "job"})).await;
        let job = world.jobs[0];
        world.fail(job, 1).await;
        world.fail(job, 2).await;
        world.round().await;
        assert_eq!(world.open().await, [], "fewer than the rule asks for");
        world.succeed(job, 3).await;
        world.later(11);
        world.round().await;
        for run in 4..6 {
            world.fail(job, run).await;
        }
        world.round().await;
        assert_eq!(world.open().await, [], "the success has ended the row");
        world.fail(job, 6).await;
        world.round().await;
        assert_eq!(world.open().await.len(), 1);
        assert_eq!(world.told().await, ["opened"]);
        world.succeed(job, 7).await;
        world.later(11);
        world.round().await;
        assert_eq!(world.open().await, []);
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    async fn an_acknowledged_alert_is_silent_until_it_is_over(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        let escalation = json!({"channels": [channel], "after_seconds": 300});
        world.rule(channel, json!({"repeat_seconds": 120, "escalation": escalation})).await;
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        world.later(121);
        world.round().await;
        world.later(180);
        world.round().await;
        assert_eq!(world.told().await, ["opened", "reminder", "reminder", "escalated"]);
        let alert = world.open().await.remove(0);
        world.acknowledge(alert.id, "I look at it").await.unwrap();
        world.fail(world.jobs[0], 2).await;
        world.later(1_000);
        world.round().await;
        assert_eq!(world.told().await.len(), 4);
        let alert = world.open().await.remove(0);
        assert_eq!((alert.events, alert.acknowledged_by.as_deref(), alert.note.as_deref()), (2, Some("ada"), Some("I look at it")));
        world.succeed(world.jobs[0], 3).await;
        world.later(11);
        world.round().await;
        assert_eq!(world.told().await.last().map(String::as_str), Some("resolved"));
        assert!(world.acknowledge(alert.id, "").await.is_err(), "it is over");
    }
}
