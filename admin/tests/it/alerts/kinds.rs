//! Events other than failed runs, from their cause to a message.

use carillon_alerts::channel::ChannelKind;
use carillon_scheduler::{AlarmKind, AlertKind, Clock as _};
use carillon_store::alarm::alarms::Alarm;
use carillon_store::alarm::late_starts::LateStart;
use serde_json::{Value, json};

use super::world::World;

impl World {
    /// A rule for this kind alone.
    async fn rule_for(&self, kind: AlertKind, more: Value) {
        let channel = self.channel(ChannelKind::File, json!({})).await;
        let mut rule = json!({"kinds": [kind]});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.rule(channel, rule).await;
    }

    /// Its look for conditions is due.
    async fn look(&self) {
        self.later(11);
        self.round().await;
    }

    /// The open alert, as kind, events, job and text.
    async fn only(&self) -> (AlertKind, i64, Option<i64>, String) {
        let open = self.open().await;
        assert_eq!(open.len(), 1, "{open:?}");
        let items = self.store.alerts().items(open[0].id, 10).await.unwrap();
        (open[0].kind, open[0].events, items[0].job_id, open[0].message.clone())
    }

    /// A run of the job that takes from `sent_at` on, so far or for as long as `took` says.
    async fn run(&self, id: i64, job_id: i64, sent_at: i64, took: Option<i64>) {
        let (state, finished_at) = match took {
            Some(took) => (9, (sent_at + took).to_string()),
            None => (2, "NULL".to_owned()),
        };
        let text = format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, \
             sent_at, finished_at) VALUES ({id}, {job_id}, 1, 0, 0, {id}, 0, 1, 1, {sent_at}, {sent_at}, {state}, 1, 1, {sent_at}, {finished_at})"
        );
        self.sql(&text).await;
    }
}

databases! {
    async fn a_run_is_too_long_after_a_fixed_time(db: &TestDatabase) {
        let world = World::start(db, 2).await;
        world.rule_for(AlertKind::LongRunning, json!({"running_seconds": 60})).await;
        let now = world.clock.now();
        world.run(1, world.jobs[0], now, None).await;
        world.look().await;
        assert_eq!(world.open().await, []);
        world.later(60);
        world.look().await;
        world.look().await;
        let (kind, events, job, text) = world.only().await;
        assert_eq!((kind, events, job), (AlertKind::LongRunning, 1, Some(world.jobs[0])), "it is counted once");
        assert_eq!(text, "job 0: run 1 has been running for 82 s");
        world.sql("UPDATE run SET state = 9 WHERE id = 1").await;
        world.look().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    async fn a_request_without_an_answer_is_too_long_too(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::LongRunning, json!({"running_seconds": 60})).await;
        let now = world.clock.now();
        // It was due a while before it was sent, and its row says so until the answer comes.
        world.run(1, world.jobs[0], now - 50_000, None).await;
        world.sql(&format!("UPDATE run SET state = 1, sent_at = NULL, marked_at = {now} WHERE id = 1")).await;
        world.later(30);
        world.look().await;
        assert_eq!(world.open().await, [], "41 s");
        world.later(30);
        world.look().await;
        world.look().await;
        let (kind, events, _, text) = world.only().await;
        assert_eq!((kind, events), (AlertKind::LongRunning, 1), "it stays open");
        assert_eq!(text, "job 0: run 1 has been running for 82 s");
        world.sql("UPDATE run SET state = 9 WHERE id = 1").await;
        world.look().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    async fn a_run_is_too_long_beside_the_runs_of_its_job(db: &TestDatabase) {
        let world = World::start(db, 3).await;
        world.rule_for(AlertKind::LongRunning, json!({"running_p95_percent": 200})).await;
        let (now, [usual, slow, new]) = (world.clock.now(), [0, 1, 2].map(|at| world.jobs[at]));
        // 20 to 39 s, 200 to 219 s, and a job with few runs.
        for id in 0..20 {
            world.run(100 + id, usual, now - 1_000_000, Some(20_000 + id * 1000)).await;
            world.run(200 + id, slow, now - 1_000_000, Some(200_000 + id * 1000)).await;
        }
        world.run(300, new, now - 1_000_000, Some(1000)).await;
        for (id, job) in [(401, usual), (402, slow), (403, new)] {
            world.run(id, job, now, None).await;
        }
        world.later(60);
        world.look().await;
        assert_eq!(world.open().await, [], "71 s: less than twice 38 s");
        world.look().await;
        let (_, events, job, text) = world.only().await;
        assert_eq!((events, job), (1, Some(usual)));
        assert_eq!(text, "job 0: run 401 has been running for 82 s; 95 of 100 runs of the job take at most 38 s");
    }

    async fn a_frequent_job_keeps_no_other_from_its_percentile(db: &TestDatabase) {
        let world = World::start(db, 2).await;
        world.rule_for(AlertKind::LongRunning, json!({"running_p95_percent": 200})).await;
        let (now, rare, frequent) = (world.clock.now(), world.jobs[0], world.jobs[1]);
        let sent = now - 1_000_000;
        for id in 1..=20 {
            world.run(id, rare, sent, Some(20_000)).await;
        }
        for thousand in 1..=6 {
            let row = |id: i64| format!("({id}, {frequent}, 1, 0, 0, {id}, 0, 1, 1, {sent}, {sent}, 9, 1, 1, {sent}, {sent} + 1000)");
            let rows: Vec<String> = (thousand * 1_000..(thousand + 1) * 1_000).map(row).collect();
            let columns = "id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, sent_at, finished_at";
            world.sql(&format!("INSERT INTO run ({columns}) VALUES {}", rows.join(","))).await;
        }
        world.run(10_001, rare, now, None).await;
        world.run(10_002, frequent, now, None).await;
        world.later(60);
        world.look().await;
        assert_eq!(world.open().await[0].events, 2);
    }

    async fn a_misfire_is_an_event_of_its_job(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::Misfire, json!({"app": "billing"})).await;
        let (job, now) = (world.jobs[0], world.clock.now());
        let range = "INSERT INTO misfire (job_id, from_at, to_at, count, policy, reason, epoch, unrouted_at)";
        world.sql(&format!("{range} VALUES ({job}, {now}, {now}, 3, 'skip', 'misfire', 1, {now})")).await;
        world.round().await;
        world.round().await;
        assert_eq!(world.only().await, (AlertKind::Misfire, 1, Some(job), "job 0: 3 instants were skipped".to_owned()));
        assert_eq!(world.store.alerts().unrouted_misfires(now).await.unwrap(), []);
        world.later(3_601);
        world.round().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    async fn a_late_start_is_told_until_a_run_of_its_job_starts_in_time(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::LateStart, json!({"app": "billing"})).await;
        let (job_id, now) = (world.jobs[0], world.clock.now());
        world.sql("UPDATE job SET start_within_seconds = 10").await;
        let late = LateStart { run_id: 1, job_id, due_at: now - 12_000, start_within_seconds: 10 };
        let alarms = world.store.alarms();
        assert_eq!(alarms.raise_late_starts(&[(late, None)], now).await.unwrap().len(), 1);
        world.round().await;
        world.later(7_200);
        world.look().await;
        let text = "job 0: run 1 was due 12 s ago and has not started; the objective is 10 s".to_owned();
        assert_eq!(world.only().await, (AlertKind::LateStart, 1, Some(job_id), text), "its time does not end it");
        assert_eq!(alarms.close_late_starts(&[job_id], now).await.unwrap(), 1);
        world.look().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    async fn a_lost_executor_is_told_until_it_is_back(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::ExecutorLost, json!({})).await;
        let now = world.clock.now();
        world.executor("billing", now + 5_000).await;
        world.round().await;
        assert_eq!(world.open().await, []);
        world.look().await;
        world.look().await;
        let (kind, events, _, text) = world.only().await;
        assert_eq!((kind, events), (AlertKind::ExecutorLost, 1));
        assert_eq!(text, "the executor http://10.0.0.5:9999/ of the app billing sends no heartbeats any more");
        world.sql(&format!("UPDATE executor SET expires_at = {}", now + 90_000)).await;
        world.look().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    async fn an_app_without_an_executor_is_told_once_until_there_is_one(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::NoExecutor, json!({"app": "billing", "group_seconds": 60})).await;
        world.later(60);
        world.look().await;
        world.later(8);
        world.look().await;
        assert_eq!(world.open().await, [], "it may just be deployed");
        world.look().await;
        world.look().await;
        assert_eq!((world.only().await.0, world.only().await.1), (AlertKind::NoExecutor, 1));
        world.executor("billing", world.clock.now() + 900_000).await;
        world.look().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
        // It leaves in order, and another one comes: a deployment.
        world.later(60);
        world.sql("DELETE FROM executor").await;
        world.look().await;
        world.look().await;
        assert_eq!(world.open().await, []);
        world.look().await;
        world.look().await;
        assert_eq!(world.open().await.len(), 1);
        // There is nothing that would want one any more.
        world.sql("UPDATE job SET enabled = FALSE").await;
        world.look().await;
        assert_eq!(world.told().await, ["opened", "resolved", "opened", "resolved"]);
    }

    async fn an_app_whose_jobs_call_urls_needs_no_executor(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::NoExecutor, json!({"app": "billing", "group_seconds": 60})).await;
        world.sql("UPDATE job SET http = '{}'").await;
        world.later(120);
        for _ in 0..4 {
            world.look().await;
        }
        assert_eq!(world.open().await, []);
        world.sql("UPDATE job SET http = NULL").await;
        for _ in 0..4 {
            world.look().await;
        }
        assert_eq!(world.open().await.len(), 1);
        world.sql("UPDATE job SET http = '{}'").await;
        world.look().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    // covers: G12
    async fn no_executor_is_lost_while_all_may_still_register_again(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::ExecutorLost, json!({"kinds": ["executor_lost", "no_executor"]})).await;
        // Nodes, and with them all heartbeats, were away for 100 s.
        let now = world.clock.now();
        world.executor("billing", now + 5_000).await;
        world.sql(&format!("INSERT INTO node (id, address, version, seen_at) VALUES ('old', '', '', {now})")).await;
        world.later(100);
        world.engine.begin().await.unwrap();
        for _ in 0..7 {
            world.look().await;
        }
        assert_eq!(world.open().await, [], "77 s of 90");
        world.later(10);
        world.look().await;
        assert_eq!(world.only().await.0, AlertKind::ExecutorLost, "it did not come back");
    }

    async fn each_long_run_of_a_job_has_its_own_end(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::LongRunning, json!({"running_seconds": 60})).await;
        let now = world.clock.now();
        for run in 1..=3 {
            world.run(run, world.jobs[0], now + run, None).await;
        }
        world.later(60);
        world.look().await;
        assert_eq!(world.only().await.1, 3);
        for run in [3, 1, 2] {
            assert_eq!(world.told().await, ["opened"]);
            world.sql(&format!("UPDATE run SET state = 9 WHERE id = {run}")).await;
            world.look().await;
        }
        assert_eq!(world.told().await, ["opened", "resolved"]);
    }

    async fn the_health_of_the_scheduler_is_told_by_rules_for_all_apps(db: &TestDatabase) {
        let world = World::start(db, 1).await;
        world.rule_for(AlertKind::Clock, json!({"kinds": ["clock", "database", "ring", "gap"]})).await;
        for kind in [AlarmKind::Clock, AlarmKind::Database, AlarmKind::Ring] {
            let alarm = Alarm { kind, job_id: None, run_id: None, text: format!("about the {kind}") };
            let _raised = world.store.alarms().raise_alone(alarm, world.clock.now()).await.unwrap();
        }
        let alarm = Alarm { kind: AlarmKind::Gap, job_id: Some(world.jobs[0]), run_id: None, text: "2 instants".into() };
        let _raised = world.store.alarms().raise_alone(alarm, world.clock.now()).await.unwrap();
        world.round().await;
        let open = world.open().await;
        // What is of no app, and the app of the job.
        let events: Vec<i64> = open.iter().map(|alert| alert.events).collect();
        assert_eq!(events.iter().sum::<i64>(), 4, "{open:?}");
        assert_eq!(open.len(), 2, "{open:?}");
    }
}
