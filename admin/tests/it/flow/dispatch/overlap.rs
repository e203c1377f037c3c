//! What a run does while another fire of its job is open: the admin's rule, for the whole cluster.

use carillon_scheduler::{Overlap, RouteStrategy, RunState};
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, wait_for};

use crate::flow::node::{Node, START};
use crate::services::{Kind, on};

use RunState::{Cancelled, Claimed, Failed, Killed, Running, Succeeded};

/// Two executors in turn: each alone would never see two runs at once, so only the admin can keep them apart.
fn flow(overlap: Overlap, queue: i32, test: impl AsyncFnOnce(&Node, [&RecordingExecutor; 2], &Job)) {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let (one, other) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        node.register(&one).await;
        node.register(&other).await;
        let job = node
            .every(10, |draft| {
                draft.route = RouteStrategy::RoundRobin;
                draft.overlap = overlap;
                draft.overlap_queue = queue;
            })
            .await;
        test(&node, [&one, &other], &job).await;
    });
}

fn received(executors: [&RecordingExecutor; 2]) -> usize {
    executors.iter().map(|executor| executor.runs().len()).sum()
}

/// The next four instants, one after the other.
async fn four(node: &Node) {
    for _ in 0..4 {
        node.advance(10_000).await;
        node.round().await;
    }
}

async fn ends(node: &Node, job: &Job, place: usize, code: i32) {
    let run = node.runs(job).await[place].id;
    node.callback(&[(run, code, "")]).await;
    // What waited for it is looked at with the next tick.
    node.advance(500).await;
}

// covers: 6.5
#[test]
fn allow_sends_them_side_by_side() {
    flow(Overlap::Allow, 10, async |node, executors, job| {
        four(node).await;
        assert_eq!(node.states(job).await, [Running; 4]);
        assert_eq!(received(executors), 4);
    });
}

// covers: 6.5
#[test]
fn skip_cancels_all_but_the_first() {
    flow(Overlap::Skip, 10, async |node, executors, job| {
        four(node).await;
        assert_eq!(node.states(job).await, [Running, Cancelled, Cancelled, Cancelled]);
        let runs = node.runs(job).await;
        assert!(runs[1..].iter().all(|run| run.reason.as_deref() == Some("overlap")));
        assert_eq!(received(executors), 1);
        ends(node, job, 0, 200).await;
        node.advance(10_000).await;
        assert_eq!(node.states(job).await[4], Running);
    });
}

// covers: 6.5
#[test]
fn wait_sends_them_one_after_the_other_and_skips_what_the_queue_cannot_hold() {
    flow(Overlap::Wait, 2, async |node, executors, job| {
        four(node).await;
        assert_eq!(node.states(job).await, [Running, Claimed, Claimed, Cancelled]);
        assert_eq!(node.runs(job).await[1].reason.as_deref(), Some("overlap"));
        ends(node, job, 0, 200).await;
        assert_eq!(node.states(job).await[..3], [Succeeded, Running, Claimed], "the earliest goes first");
        assert_eq!(node.runs(job).await[1].reason, None, "it waits no longer");
        ends(node, job, 1, 500).await;
        assert_eq!(node.states(job).await[..3], [Succeeded, Failed, Running]);
        assert_eq!(received(executors), 3);
    });
}

// covers: 6.5
#[test]
fn cancel_asks_for_the_end_and_sends_the_latest_after_it() {
    flow(Overlap::Cancel, 10, async |node, executors, job| {
        node.advance(10_000).await;
        node.advance(10_000).await;
        let kills = || executors.iter().map(|e| e.received("/kill").len()).sum::<usize>();
        wait_for("the executor was asked to stop", || async { kills() == 1 }).await;
        assert_eq!(node.states(job).await, [Running, Claimed], "it has not ended yet");
        node.advance(10_000).await;
        assert_eq!(node.states(job).await, [Running, Cancelled, Claimed], "the latest takes the place");
        assert_eq!(kills(), 1, "asked once");
        ends(node, job, 0, 500).await;
        assert_eq!(node.states(job).await, [Killed, Cancelled, Running]);
    });
}

#[test]
fn what_waits_for_an_earlier_fire_may_be_later_than_any_threshold() {
    flow(Overlap::Wait, 10, async |node, _, job| {
        node.advance(10_000).await;
        node.advance(10_000).await;
        assert_eq!(node.states(job).await, [Running, Claimed]);
        // Another process finds the row, two minutes later: it is no misfire, and it still waits.
        let later = Node::restarted(node, node.config.clone(), START + 140_000).await;
        later.round().await;
        let states = later.states(job).await;
        assert_eq!(states[..2], [Running, Claimed], "{states:?}");
    });
}

#[test]
fn a_rule_that_is_lifted_lets_go_what_waits() {
    flow(Overlap::Wait, 10, async |node, executors, job| {
        node.advance(10_000).await;
        node.advance(10_000).await;
        assert_eq!(node.states(job).await, [Running, Claimed]);
        let mut draft = job.draft.clone();
        draft.overlap = Overlap::Allow;
        node.edit(job, draft).await;
        node.advance(600).await;
        assert_eq!(node.states(job).await, [Running, Running]);
        assert_eq!(received(executors), 2);
    });
}

#[test]
fn parts_of_one_broadcast_do_not_overlap_each_other() {
    flow(Overlap::Skip, 10, async |node, executors, job| {
        let mut draft = job.draft.clone();
        draft.route = RouteStrategy::Broadcast;
        node.edit(job, draft).await;
        node.advance(10_000).await;
        node.round().await;
        assert_eq!(node.states(job).await, [Running, Running]);
        node.advance(10_000).await;
        node.round().await;
        assert_eq!(node.states(job).await, [Running, Running, Cancelled]);
        assert_eq!(received(executors), 2);
    });
}
