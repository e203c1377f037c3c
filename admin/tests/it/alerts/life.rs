//! When an alert opens, which messages it causes, and when it is over.

use carillon_alerts::channel::ChannelKind;
use carillon_alerts::manage::AlertAction;
use carillon_scheduler::{JobDraft, RunState};
use carillon_store::alert::alerts::{AlertFilter, AlertState};
use serde_json::{Value, json};

use super::receiver::Receiver;
use super::world::World;
use crate::conformance::fixture::actor;
use crate::services::TestDatabase;

/// A world with a rule that writes to a file.
async fn world(db: &TestDatabase, jobs: usize, rule: Value) -> World {
    let world = World::start(db, jobs).await;
    let channel = world.channel(ChannelKind::File, json!({})).await;
    world.rule(channel, rule).await;
    world
}

impl World {
    /// An attempt of one of the two parts of a fire of the first job.
    async fn part(&self, run: i64, fire: i64, part: i32, attempt: i32, state: RunState) {
        let (job, state) = (self.jobs[0], state.code());
        let text = format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends) \
             VALUES ({run}, {job}, 1, 0, 0, {fire}, {part}, 2, {attempt}, {fire}, {fire}, {state}, 1, 1)"
        );
        self.sql(&text).await;
    }

    /// Its look for what is over is due.
    async fn round_later(&self, seconds: u64) {
        self.later(seconds);
        self.round().await;
    }
}

databases! {
    async fn what_ends_and_begins_again_and_again_is_told_no_more_often_than_what_goes_on(db: &TestDatabase) {
        let world = world(db, 1, json!({"group_seconds": 60})).await;
        // A failure and a success in turn, for half an hour.
        for run in (1..330).step_by(2) {
            world.fail(world.jobs[0], run).await;
            world.round().await;
            world.succeed(world.jobs[0], run + 1).await;
            world.round_later(11).await;
        }
        assert_eq!(world.open().await, []);
        // At once, and after 1, 3 and 12 minutes more.
        assert_eq!(world.told().await, ["opened", "resolved"].repeat(4));
    }

    // covers: B4
    async fn messages_about_what_goes_on_come_in_growing_steps(db: &TestDatabase) {
        let world = world(db, 1, json!({})).await;
        let mut minutes = vec![];
        for minute in 0..600 {
            world.fail(world.jobs[0], minute + 1).await;
            let before = world.told().await.len();
            world.round().await;
            if world.told().await.len() > before {
                minutes.push(minute);
            }
            world.later(60);
        }
        assert_eq!(minutes, [0, 5, 20, 80, 320, 560], "5 min, 15 min, 1 h, then each 4 h");
        let told = world.told().await;
        assert_eq!((told[0].as_str(), told.iter().filter(|kind| *kind == "update").count()), ("opened", 5));
    }

    // covers: B4
    async fn a_job_that_joins_an_alert_is_told_after_the_first_step(db: &TestDatabase) {
        let world = world(db, 2, json!({})).await;
        for run in 1..=100 {
            world.fail(world.jobs[0], run).await;
            world.round().await;
            world.later(60);
        }
        let before = world.told().await.len();
        world.fail(world.jobs[1], 200).await;
        world.round().await;
        assert_eq!(world.told().await.len(), before + 1, "the last message is 20 minutes old, the next one was due in 3 hours");
    }

    // covers: B4
    async fn many_alerts_are_acknowledged_or_silenced_at_once(db: &TestDatabase) {
        let world = world(db, 3, json!({"group_by": "job", "repeat_seconds": 600})).await;
        for (place, job) in world.jobs.iter().enumerate() {
            world.fail(*job, place as i64 + 1).await;
        }
        world.round().await;
        let ids: Vec<i64> = world.open().await.iter().map(|alert| alert.id).collect();
        let silence = AlertAction::Silence { seconds: 3_600 };
        let silenced = world.alerts.handle_all(&[ids[0], ids[1], 999_999], &silence, &actor()).await.unwrap();
        assert_eq!((silenced.done, silenced.refused[0].id), (2, 999_999));
        let taken = AlertAction::Acknowledge { note: "disk".to_owned() };
        assert_eq!(world.alerts.handle_all(&ids[2..], &taken, &actor()).await.unwrap().done, 1);
        for _ in 0..5 {
            world.round_later(660).await;
        }
        assert_eq!(world.told().await, ["opened"; 3], "no reminder in the hour");
        world.round_later(660).await;
        assert_eq!(world.told().await[3..], ["reminder"; 2]);
        let refused = world.alerts.handle_all(&[], &taken, &actor()).await.unwrap_err().to_string();
        assert_eq!(refused, "ids: name 1 to 1000 alerts");
    }

    // covers: G20
    async fn an_incident_ends_with_its_rule(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let receiver = Receiver::start("{}").await;
        let key = json!({"routing_key": "r"});
        let pager = world.channel_with(ChannelKind::Pagerduty, json!({"url": receiver.url}), key).await;
        let file = world.channel(ChannelKind::File, json!({})).await;
        let rule = json!({"app": "billing", "channels": [pager, file]});
        let deleted = world.rule(pager, rule.clone()).await;
        let with = |name: &str, app: &str| json!({"name": name, "app": app, "kinds": ["failed"], "channels": [pager, file]});
        let draft = |name: &str, app: &str| serde_json::from_value(with(name, app)).unwrap();
        let moved = world.alerts.create_rule(draft("moved", "billing"), &actor()).await.unwrap().id;
        let off = world.alerts.create_rule(draft("off", "billing"), &actor()).await.unwrap().id;
        world.engine.apps().create("shipping", None, &actor()).await.unwrap();
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        world.alerts.delete_rule(deleted, &actor()).await.unwrap();
        world.alerts.update_rule(moved, draft("moved", "shipping"), None, &actor()).await.unwrap();
        let mut switched = with("off", "billing");
        switched["enabled"] = false.into();
        world.alerts.update_rule(off, serde_json::from_value(switched).unwrap(), None, &actor()).await.unwrap();
        world.succeed(world.jobs[0], 2).await;
        world.round_later(11).await;
        let ends: Vec<i64> =
            world.deliveries().await.iter().filter(|it| it.kind == "resolved").map(|it| it.channel_id).collect();
        assert_eq!(ends, [pager; 3], "people are not told of a recovery");
        while world.alerts.deliverer.round().await.unwrap() > 0 {}
        let actions = receiver.received().into_iter().map(|it| it.body["event_action"].as_str().unwrap().to_owned());
        let actions: Vec<String> = actions.collect();
        assert_eq!(actions.iter().filter(|action| *action == "resolve").count(), 3, "{actions:?}");
    }

    async fn an_acknowledged_alert_opens_again_for_what_begins_long_after(db: &TestDatabase) {
        let world = world(db, 3, json!({})).await;
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        let alert = world.open().await.remove(0);
        world.acknowledge(alert.id, "I look at it").await.unwrap();
        world.fail(world.jobs[1], 2).await;
        world.round().await;
        world.later(3_600);
        world.fail(world.jobs[0], 3).await;
        world.round().await;
        assert_eq!(world.told().await, ["opened"], "what goes on is known, and what began soon after");
        assert_eq!(world.open().await[0].state, AlertState::Acknowledged);
        world.fail(world.jobs[2], 4).await;
        world.round().await;
        assert_eq!(world.told().await, ["opened", "update"]);
        assert_eq!(world.open().await[0].state, AlertState::Open);
    }

    async fn a_success_between_failures_ends_their_row_also_when_they_are_counted_together(db: &TestDatabase) {
        let world = world(db, 1, json!({"threshold": 2})).await;
        world.fail(world.jobs[0], 1).await;
        world.succeed(world.jobs[0], 2).await;
        world.fail(world.jobs[0], 3).await;
        world.round().await;
        assert_eq!(world.open().await, []);
        world.fail(world.jobs[0], 4).await;
        world.round().await;
        assert_eq!(world.open().await.len(), 1);
    }

    async fn a_part_that_succeeds_does_not_end_the_failure_of_another(db: &TestDatabase) {
        let world = world(db, 1, json!({})).await;
        world.part(1, 1, 0, 1, RunState::Failed).await;
        world.part(2, 1, 1, 1, RunState::Succeeded).await;
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        world.round_later(11).await;
        assert_eq!(world.told().await, ["opened"]);
        // Of the next fire one part succeeds at its second attempt.
        world.part(3, 2, 0, 1, RunState::Failed).await;
        world.part(4, 2, 1, 1, RunState::Succeeded).await;
        world.round_later(11).await;
        assert_eq!(world.told().await, ["opened"]);
        world.part(5, 2, 0, 2, RunState::Succeeded).await;
        world.round_later(11).await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    async fn parts_of_a_fire_that_fail_together_are_one_failure_of_a_row(db: &TestDatabase) {
        let world = world(db, 1, json!({"threshold": 2})).await;
        for (run, fire, part) in [(1, 1, 0), (2, 1, 1)] {
            world.part(run, fire, part, 1, RunState::Failed).await;
            world.fail(world.jobs[0], run).await;
        }
        world.round().await;
        assert_eq!(world.open().await, []);
        world.part(3, 2, 0, 1, RunState::Failed).await;
        world.fail(world.jobs[0], 3).await;
        world.round().await;
        assert_eq!(world.open().await.len(), 1);
    }

    async fn what_never_was_often_enough_is_no_alert(db: &TestDatabase) {
        let world = world(db, 2, json!({"threshold": 2})).await;
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        let pending = world.number("SELECT id FROM alert").await;
        assert_eq!(world.store.alerts().get(pending).await.unwrap(), None);
        let error = world.acknowledge(pending, "").await.unwrap_err().to_string();
        assert!(error.contains(&format!("alert {pending}")), "{error}");
        world.succeed(world.jobs[0], 2).await;
        world.round_later(11).await;
        let filter = AlertFilter { limit: 10, ..AlertFilter::default() };
        assert_eq!(world.store.alerts().list(&filter).await.unwrap().items, [], "neither open nor over");
        // One job opens it; a single failure of another is no news.
        for run in [3, 4] {
            world.fail(world.jobs[0], run).await;
        }
        world.round().await;
        world.later(301);
        world.fail(world.jobs[1], 5).await;
        world.round().await;
        assert_eq!(world.told().await, ["opened"]);
    }

    async fn a_message_names_only_what_goes_on(db: &TestDatabase) {
        let world = world(db, 3, json!({})).await;
        for (job, run) in [(0, 1), (1, 2)] {
            world.fail(world.jobs[job], run).await;
        }
        world.round().await;
        world.succeed(world.jobs[0], 3).await;
        world.later(301);
        world.fail(world.jobs[2], 4).await;
        world.round().await;
        let message: Value = serde_json::from_str(&world.deliveries().await[1].message).unwrap();
        let named: Vec<&str> = message["items"].as_array().unwrap().iter().map(|it| it["job"].as_str().unwrap()).collect();
        assert_eq!((&message["kind"], named), (&json!("update"), vec!["job 2", "job 1"]));
    }

    async fn who_was_told_of_an_alert_is_told_of_its_end(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let receiver = Receiver::start("ok").await;
        let told = world.channel(ChannelKind::Webhook, json!({"url": receiver.url})).await;
        let new = world.channel(ChannelKind::File, json!({})).await;
        let rule = world.rule(told, json!({})).await;
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        let changed = json!({"name": "failures", "kinds": ["failed"], "channels": [new]});
        world.alerts.update_rule(rule, serde_json::from_value(changed).unwrap(), None, &actor()).await.unwrap();
        world.succeed(world.jobs[0], 2).await;
        world.round_later(11).await;
        let to: Vec<i64> = world.deliveries().await.iter().map(|delivery| delivery.channel_id).collect();
        assert_eq!((world.told().await.len(), to), (2, vec![told, told]));
    }

    async fn each_of_many_open_alerts_ends(db: &TestDatabase) {
        let world = world(db, 2, json!({"group_by": "job"})).await;
        world.fail(world.jobs[0], 1).await;
        world.fail(world.jobs[1], 2).await;
        world.round().await;
        let mut open = world.open().await;
        open.sort_by_key(|alert| alert.id);
        let mut jobs = vec![];
        for alert in &open {
            jobs.push(world.store.alerts().items(alert.id, 1).await.unwrap()[0].job_id.unwrap());
        }
        // The first is about more than are looked at together.
        for thousand in 0..5 {
            let row = |number: i32| format!("({}, 'x {thousand} {number}', 'failed', {}, 1, '', 1, 1, 1)", open[0].id, jobs[0]);
            let rows: Vec<String> = (0..1_000).map(row).collect();
            let columns = "alert_id, subject, kind, job_id, run_id, message, events, first_at, last_at";
            world.sql(&format!("INSERT INTO alert_item ({columns}) VALUES {}", rows.join(","))).await;
        }
        world.succeed(jobs[1], 10).await;
        world.round_later(11).await;
        let left: Vec<i64> = world.open().await.iter().map(|alert| alert.id).collect();
        assert_eq!(left, [open[0].id]);
    }

    async fn the_alert_of_a_job_moves_with_it_and_that_of_a_rule_stays_behind(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        world.rule(channel, json!({"group_by": "job"})).await;
        world.engine.apps().create("shipping", None, &actor()).await.unwrap();
        world.fail(world.jobs[0], 1).await;
        world.round().await;
        world.engine.jobs().update(world.jobs[0], &JobDraft::new("shipping", "job 0", "h"), None, &actor()).await.unwrap();
        world.fail(world.jobs[0], 2).await;
        world.round().await;
        let open = world.open().await;
        assert_eq!((open.len(), open[0].app.as_deref(), open[0].events), (1, Some("shipping"), 2));

        let rule = json!({"name": "of shipping", "kinds": ["failed"], "app": "shipping", "group_by": "rule"});
        let with = |app: &str| {
            let mut rule = rule.clone();
            (rule["app"], rule["channels"]) = (app.into(), json!([channel]));
            serde_json::from_value(rule).unwrap()
        };
        let id = world.alerts.create_rule(with("shipping"), &actor()).await.unwrap().id;
        world.fail(world.jobs[0], 3).await;
        world.round().await;
        world.alerts.update_rule(id, with("billing"), None, &actor()).await.unwrap();
        let open: Vec<i64> = world.open().await.iter().map(|alert| alert.rule_id).collect();
        assert!(open.len() == 1 && open[0] != id, "it is not seen by people of the other app: {open:?}");
    }
}
