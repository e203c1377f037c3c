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

    /// Each job fails at each look, for as long as `looks` say.
    async fn fail_for(&self, looks: i64, first_run: i64) {
        for look in 0..looks {
            for (place, job) in self.jobs.iter().enumerate() {
                self.fail(*job, first_run + look * 100 + place as i64).await;
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
            let run = 1_000 + place as i64;
            world.sql(&format!(
                "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, reason, epoch, sends) \
                 VALUES ({run}, {job}, 1, 0, 0, {run}, 0, 1, 1, {run}, {run}, 10, 'no_executor', 1, 1)"
            )).await;
            world.fail(*job, run).await;
        }
        for _ in 0..20 {
            world.round().await;
            world.later(11);
        }
        assert_eq!(world.titles().await, ["billing: no executor is online (failures)"]);
    }

    async fn failures_are_told_where_no_rule_asks_for_executors_or_where_there_is_one(db: &TestDatabase) {
        let world = World::start(db, 2).await;
        let channel = world.channel(ChannelKind::File, json!({})).await;
        world.rule(channel, json!({"group_by": "job"})).await;
        world.fail_for(1, 1_000).await;
        assert_eq!(world.told().await.len(), 2);
        let other = json!({"name": "other", "kinds": KINDS, "group_by": "job"});
        world.rule(channel, other).await;
        world.executor("billing", world.clock.now() + 9_000_000).await;
        world.fail_for(1, 2_000).await;
        assert_eq!(world.told().await.len(), 4);
    }
}
