//! The ends of executors' leases: no run chooses an executor from then on, and what it had is lost when its time comes.

use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, Millis, RunState};
use carillon_testkit::RecordingExecutor;

use crate::flow::node::{Node, with_executor};
use crate::flow::recover::unknown_commits::on_a_wire;
use crate::services::{Kind, on};

const LEASE: Millis = 30_000;

/// Time goes on in small steps: a long one would look like a pause of this node. The monitor has no round.
async fn pass_until(node: &Node, until: Millis) {
    while node.clock.now() < until {
        node.advance((until - node.clock.now()).min(3_000).unsigned_abs()).await;
        node.services.lease_watcher.step().await;
        node.drain().await;
    }
}

// covers: 002-35
#[test]
fn an_executor_is_chosen_until_the_last_millisecond_of_its_lease() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let (job, registered_at) = (node.job(|_| ()).await, node.clock.now());
        pass_until(node, registered_at + LEASE - 1).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        node.clock.advance(Duration::from_millis(1));
        assert_eq!(node.clock.now(), registered_at + LEASE);
        node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Running, RunState::Claimed], "no executor is there");
        assert_eq!(executor.runs().len(), 1);
    });
}

/// That the timer comes within 200 ms of this time is shown beside it, in time that passes by itself.
// covers: 002-35, I6
#[test]
fn runs_of_a_silent_executor_are_lost_in_time_and_without_a_round_of_the_monitor() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let (job, registered_at) = (node.job(|_| ()).await, node.clock.now());
        node.fire(&job).await;
        node.round().await;
        executor.die().await;
        let lost_at = registered_at + LEASE + 30_000;
        pass_until(node, lost_at).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        pass_until(node, lost_at + 1_000).await;
        let lost = &node.runs(&job).await[0];
        assert_eq!((lost.state, lost.reason.as_deref()), (RunState::Lost, Some("lost")));
        assert!(lost.message().contains("its executor is gone"), "{}", lost.message());
    });
}

#[test]
fn a_heartbeat_that_another_node_has_stored_keeps_the_runs_although_the_copy_is_old() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let (job, registered_at) = (node.job(|_| ()).await, node.clock.now());
        node.fire(&job).await;
        node.round().await;
        let lost_at = registered_at + LEASE + 30_000;
        pass_until(node, lost_at).await;
        let renewed = lost_at + LEASE;
        node.sql(&format!("UPDATE executor SET seen_at = {lost_at}, expires_at = {renewed}")).await;
        // Not by the refresher: the watcher sees the old copy, and then the row.
        node.clock.advance(Duration::from_secs(1));
        assert_eq!(node.services.lease_watcher.step().await.did, 1);
        node.drain().await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
    });
}

#[test]
fn a_pause_of_this_process_ends_no_lease() {
    with_executor(async |node, executor| {
        node.register_own(executor, "boot-1").await;
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(node.services.lease_watcher.step().await.did, 0);
        node.clock.advance(Duration::from_secs(600));
        node.renew_leases().await;
        assert_eq!(node.services.lease_watcher.step().await.did, 1, "its time has passed by the old copy");
        node.drain().await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
    });
}

// covers: 002-35
#[test]
fn leases_are_watched_without_a_statement_while_heartbeats_come() {
    on(Kind::Postgres, async |db| {
        let (node, wire) = on_a_wire(db).await;
        let executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
        node.renew_leases().await;
        for _ in 0..12 {
            for executor in &executors {
                node.register_own(executor, "boot").await;
            }
            node.clock.advance(Duration::from_secs(10));
            let before = wire.round_trips();
            assert_eq!(node.services.lease_watcher.step().await.did, 0);
            assert_eq!(wire.round_trips(), before);
        }
    });
}
