//! What waits in the table and not in the memory of its holder is found again soon, and is not judged twice.

use std::sync::Arc;

use carillon_scheduler::{AlarmKind, JobDraft, ManualClock, MisfirePolicy, RouteStrategy, RunState};
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_store::run::expand::Expansion;
use carillon_testkit::{RecordingExecutor, wait_for};

use crate::flow::node::{Node, START};
use crate::services::{Kind, on};

// covers: F20
#[test]
fn parts_of_a_broadcast_whose_commit_was_not_heard_are_sent_by_the_next_scan() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
        for executor in &executors {
            node.register(executor).await;
        }
        let job = node.job(|draft: &mut JobDraft| draft.route = RouteStrategy::Broadcast).await;
        node.renew_leases().await;
        node.scan().await;
        node.fire(&job).await;
        node.scan().await;
        // The expansion that was committed, and its answer lost.
        let (store, lease) = (&node.store, node.store.leases().list().await.unwrap());
        let epoch = lease[job.shard as usize].epoch;
        let run = store.runs().waiting(job.shard, epoch, i64::MAX, 9).await.unwrap();
        let broadcast = Expansion::Broadcast(executors.each_ref().map(|it| it.address.clone()).to_vec());
        let parts = store.runs().expand(&run[0], &broadcast, "a").await.unwrap();
        assert_eq!(parts.len(), 2);
        node.dispatch().await;
        wait_for("the broadcast was looked at", async || !node.engine.is_expanding()).await;
        node.scan().await;
        node.dispatch().await;
        node.drain().await;
        let received = executors.each_ref().map(|it| it.runs().len());
        assert_eq!(received, [1, 1]);
    });
}

// covers: F24
#[test]
fn a_run_that_was_claimed_in_time_is_not_skipped_because_it_waits() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let strict = |draft: &mut JobDraft| {
            draft.misfire = MisfirePolicy::Skip;
            draft.misfire_threshold_seconds = 2;
        };
        let job = node.every(10, strict).await;
        // Its executor is busy all the time: nothing is marked.
        for _ in 0..25 {
            node.clock.advance(std::time::Duration::from_secs(1));
            node.renew_leases().await;
            node.scan().await;
        }
        let states = node.states(&job).await;
        assert!(states.len() >= 2, "{states:?}");
        assert!(states.iter().all(|state| *state == RunState::Claimed), "{states:?}");
    });
}

// covers: F24
#[test]
fn adoption_stops_when_the_ring_is_full_and_goes_on_when_there_is_room() {
    on(Kind::Sqlite, async |db| {
        let mut config = db.config();
        config.shards = Some(1);
        config.engine.ring_capacity = 10;
        let node = Node::on(config, Arc::new(ManualClock::new(START))).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.job(|_| ()).await;
        node.renew_leases().await;
        for _ in 0..30 {
            node.fire(&job).await;
        }
        node.scan().await;
        let adopted = node.store.runs().waiting(0, 1, i64::MAX, 100).await.unwrap();
        assert_eq!(adopted.len(), 10);
        for _ in 0..5 {
            node.round().await;
        }
        assert_eq!(executor.runs().len(), 30);
    });
}

// covers: F18
#[test]
fn a_run_that_cannot_be_read_is_alarmed_once_and_its_shard_goes_on() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.job(|_| ()).await;
        node.renew_leases().await;
        let (strange, plain) = (node.fire(&job).await, node.fire(&job).await);
        node.sql(&format!("UPDATE run SET cause = 77 WHERE id = {strange}")).await;
        for _ in 0..15 {
            node.advance(1_000).await;
        }
        let sent: Vec<_> = executor.runs().iter().map(|run| run.run_id()).collect();
        assert_eq!(sent, [plain]);
        let filter = AlarmFilter { kinds: vec![AlarmKind::Stuck], limit: 10, ..AlarmFilter::default() };
        let alarms = node.store.alarms().list(&filter).await.unwrap().items;
        let texts: Vec<_> = alarms.iter().map(|row| &row.alarm.text).collect();
        let of_it = texts.iter().filter(|text| text.contains("cannot be read"));
        assert_eq!(of_it.count(), 1, "{texts:?}");
    });
}
