//! Failures of jobs whose app has no executor make no messages of their own.

use carillon_alerts::channel::ChannelKind;
use carillon_scheduler::Clock as _;
use serde_json::json;

use super::world::World;

const KINDS: [&str; 2] = ["failed", "no_executor"];

impl World {
    async fn watched(self, group_by: &str) -> Self {
        let channel = self.channel(ChannelKind::File, json!({})).await;
        self.rule(channel, json!({"kinds": KINDS, "group_by": group_by})).await;
        self
    }

    /// A run of the job that has failed for this reason, and its alarm.
    async fn fail_because(&self, job: i64, run: i64, reason: &str) {
        self.sql(&format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, reason, epoch, sends) \
             VALUES ({run}, {job}, 1, 0, 0, {run}, 0, 1, 1, {run}, {run}, 10, '{reason}', 1, 1)"
        )).await;
        self.fail(job, run).await;
    }

    async fn look_on(&self, looks: usize) {
        for _ in 0..looks {
            self.later(11);
            self.round().await;
        }
    }

    /// Each job fails at each look, for as long as `looks` say, since it finds no executor.
    async fn fail_for(&self, looks: i64, first_run: i64) {
        self.fail_for_because(looks, first_run, "no_executor").await;
    }

    async fn fail_for_because(&self, looks: i64, first_run: i64, reason: &str) {
        for look in 0..looks {
            for (place, job) in self.jobs.iter().enumerate() {
                self.fail_because(*job, first_run + look * 100 + place as i64, reason).await;
            }
            self.later(11);
            self.round().await;
        }
    }
}

databases! {
    // covers: B4
    async fn an_app_without_an_executor_is_one_message_and_not_one_for_each_job(db: &TestDatabase) {
        let world = World::start(db, 45).await.watched("job").await;
        world.fail_for(30, 1_000).await;
        assert_eq!(world.titles().await, ["billing: no executor is online (failures)"]);
        assert_eq!(world.open().await.len(), 46, "the alerts of the jobs are there, without messages");
        world.executor("billing", world.clock.now() + 9_000_000).await;
        world.later(11);
        world.round().await;
        assert_eq!(world.told().await, ["opened", "resolved"]);
        // One job fails still, the others succeed.
        world.later(1);
        for (place, job) in world.jobs.iter().enumerate().skip(1) {
            world.succeed(*job, 9_000 + place as i64).await;
        }
        world.fail(world.jobs[0], 9_000).await;
        world.later(11);
        world.round().await;
        assert_eq!(world.told().await, ["opened", "resolved", "opened"]);
        assert_eq!(world.titles().await[2], "billing: job job 0 failed, 31 events (failures)");
        assert_eq!(world.open().await.len(), 1);
    }

    // covers: B4
    async fn an_alert_of_the_app_names_the_cause_and_is_told_once(db: &TestDatabase) {
        let world = World::start(db, 3).await.watched("app").await;
        world.fail_for(60, 1_000).await;
        assert_eq!(world.titles().await, ["billing: no executor is online (failures)"]);
    }

    // covers: B4
    async fn failures_at_executors_that_cannot_be_reached_wait_until_their_lease_ends(db: &TestDatabase) {
        let world = World::start(db, 10).await.watched("job").await;
        // They have gone without a word, and their lease lasts for 90 s.
        world.executor("billing", world.clock.now() + 90_000).await;
        for (place, job) in world.jobs.iter().enumerate() {
            world.fail_because(*job, 1_000 + place as i64, "no_executor").await;
        }
        for _ in 0..20 {
            world.round().await;
            world.later(11);
        }
        assert_eq!(world.titles().await, ["billing: no executor is online (failures)"]);
    }

    // covers: B4
    async fn a_failure_at_an_executor_is_told_also_where_an_outage_follows(db: &TestDatabase) {
        let world = World::start(db, 3).await.watched("job").await;
        world.executor("billing", world.clock.now() + 9_000_000).await;
        for (place, job) in world.jobs.iter().enumerate() {
            world.fail_because(*job, 1_000 + place as i64, "result").await;
        }
        world.look_on(1).await;
        assert_eq!(world.titles().await.len(), 3);
        // Within the time of the next message; then the app has no executor, as in a deployment.
        world.fail_because(world.jobs[0], 2_000, "result").await;
        world.fail_because(world.jobs[1], 2_001, "result").await;
        world.look_on(1).await;
        world.sql("DELETE FROM executor").await;
        world.look_on(2).await;
        world.fail_because(world.jobs[1], 3_001, "no_executor").await;
        world.fail_because(world.jobs[2], 3_002, "no_executor").await;
        world.look_on(10).await;
        world.executor("billing", world.clock.now() + 9_000_000).await;
        world.look_on(30).await;
        let titles = world.titles().await;
        let told = |title: &str| titles.iter().any(|told| told == title);
        assert!(told("billing: no executor is online (failures)"), "{titles:?}");
        assert!(told("billing: job job 0 failed, 2 events (failures)"), "{titles:?}");
        assert!(told("billing: job job 1 failed, 3 events (failures)"), "its later run found no executor: {titles:?}");
        assert!(!titles.iter().any(|title| title.starts_with("billing: job job 2 failed, 2")), "{titles:?}");
    }

    async fn failures_are_told_where_no_rule_asks_for_executors_or_where_there_is_one(db: &TestDatabase) {
        let world = World::start(db, 2).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        world.rule(channel, json!({"group_by": "job"})).await;
        world.fail_for_because(1, 1_000, "result").await;
        assert_eq!(world.told().await.len(), 2);
        let other = json!({"name": "other", "kinds": KINDS, "group_by": "job"});
        world.rule(channel, other).await;
        world.executor("billing", world.clock.now() + 9_000_000).await;
        world.fail_for_because(1, 2_000, "result").await;
        assert_eq!(world.told().await.len(), 4);
    }
}
